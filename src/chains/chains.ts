import type { Chain } from './chain.ts';
import type { Signer } from './signer.ts';

/** A network the operator has configured, with the accounts that act on it. */
export interface ConnectedChain {
  readonly chain: Chain;
  /** Without a relayer the network is watched, and nothing new is offered on it. */
  readonly relayers: readonly Signer[];
  readonly feeAccount: string;
  /** Receives payments of merchants without a destination for the asset. */
  readonly intermediateAccount: string;
  /** Without a signer, the money of the intermediate account stays there. */
  readonly intermediateSigner?: Signer | undefined;
  /** CAIP-19 ids of the assets that are payable now: known, and confirmed by the last check of the chain. */
  payable(): readonly string[];
  /** The problems found by the last check, in sentences for the operator. */
  problems(): readonly string[];
}

export interface Chains {
  /** By CAIP-2. */
  find(network: string): ConnectedChain | undefined;
  list(): readonly ConnectedChain[];
}
