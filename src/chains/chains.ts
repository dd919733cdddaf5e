import type { Chain, Signer } from './chain.ts';

/** A network the operator has configured, with the accounts that act on it. */
export interface ConnectedChain {
  readonly chain: Chain;
  /** The relayers. Without one the network is watched, and nothing new is offered on it. */
  readonly relayers: readonly Signer[];
  /** Where fees go, and where payments of merchants without a destination of their own are kept. */
  readonly feeAccount: string;
  readonly intermediateAccount: string;
  /** The signer of that account. Without one, its money stays there. */
  readonly intermediateSigner?: Signer | undefined;
  /** CAIP-19 ids that can be paid with now: known, and found on the chain as we know them. */
  payable(): readonly string[];
  /** The problems of the last check, in sentences for the operator. */
  problems(): readonly string[];
}

/** The configured networks. */
export interface Chains {
  /** By CAIP-2. */
  find(network: string): ConnectedChain | undefined;
  list(): readonly ConnectedChain[];
}
