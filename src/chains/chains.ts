import type { Chain, Signer } from './chain.ts';

/** A network the operator has configured, with the accounts that act on it. */
export interface ConnectedChain {
  readonly chain: Chain;
  /** The relayers. Without one the network is watched, and nothing new is offered on it. */
  readonly relayers: readonly Signer[];
  /** The intermediate account: it receives fees, and payments of merchants without a destination. */
  readonly feeAccount: string;
  readonly intermediateAccount: string;
  /** The signer of that account. Without one, its money stays there. */
  readonly intermediateSigner?: Signer | undefined;
  /** CAIP-19 ids of the assets payable now: known, and confirmed by the last check of the chain. */
  payable(): readonly string[];
  /** The problems that the last check found, in sentences for the operator. */
  problems(): readonly string[];
}

/** The configured networks. */
export interface Chains {
  /** By CAIP-2. */
  find(network: string): ConnectedChain | undefined;
  list(): readonly ConnectedChain[];
}
