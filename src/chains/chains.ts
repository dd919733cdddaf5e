import type { Chain } from './chain.ts';
import type { Signer } from './signer.ts';

/** A network the operator has configured, with the accounts that act on it. */
export interface ConnectedChain {
  readonly chain: Chain;
  /** The signers of the relayers. A network without a relayer is still watched, but payers are not offered it for new payments. */
  readonly relayers: readonly Signer[];
  readonly feeAccount: string;
  /** The account that receives payments of merchants without a destination for the asset. */
  readonly intermediateAccount: string;
  /**
   * The signer of the intermediate account. Undefined if its key is not configured. Then the gateway cannot send money from this
   * account.
   */
  readonly intermediateSigner?: Signer | undefined;
  /**
   * The signers of further intermediate accounts: a future one, and former ones. Former accounts may still receive and send
   * money, because existing deposit addresses name them for ever.
   */
  readonly otherIntermediates?: readonly Signer[];
  /** CAIP-19 ids of the assets that are payable now: known, and confirmed by the last check of the chain. */
  payable(): readonly string[];
  /** The problems found by the last check, in sentences for the operator. */
  problems(): readonly string[];
}

/** True for the intermediate account, and for every further intermediate account whose key is configured. */
export function isIntermediate({ intermediateAccount, otherIntermediates = [] }: ConnectedChain, address: string) {
  return address === intermediateAccount || otherIntermediates.some((other) => other.address === address);
}

/** The signer of an intermediate account. Undefined if its key is not configured. */
export function intermediateSignerAt(
  { intermediateAccount, intermediateSigner, otherIntermediates = [] }: ConnectedChain,
  address: string,
): Signer | undefined {
  return address === intermediateAccount
    ? intermediateSigner
    : otherIntermediates.find((other) => other.address === address);
}

export interface Chains {
  /** The network with this CAIP-2 id. */
  find(network: string): ConnectedChain | undefined;
  list(): readonly ConnectedChain[];
}
