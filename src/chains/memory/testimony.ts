import type { ChainEvent } from '../chain.ts';

/** The lies of one endpoint when it is asked alone. */
export interface Testimony extends TestimonyLies {
  readonly name: string;
  /** True if two others have contradicted it. */
  isDistrusted: boolean;
}

export interface TestimonyLies {
  /** It has given no answer for this long. */
  silentForMs: number | undefined;
  /** The number of blocks it claims beyond the head; negative if it lags behind. */
  headAhead: number;
  /** It has other blocks than the other endpoints. */
  hasOtherBlocks: boolean;
  /** It reports every authorization as unused. */
  deniesUse: boolean;
  /** It adds this much to every nonce. No nonce is below zero. */
  addsToNonces: number;
  /** It adds this much to every balance of a token. */
  addsToHoldings: bigint;
  /** It hides events with these commitments. */
  hidden: readonly string[];
  /** It adds these forged events, also to the receipts of their transactions. */
  invented: readonly ChainEvent[];
}

export const HONEST_TESTIMONY: TestimonyLies = {
  silentForMs: undefined,
  headAhead: 0,
  hasOtherBlocks: false,
  deniesUse: false,
  addsToNonces: 0,
  addsToHoldings: 0n,
  hidden: [],
  invented: [],
};

export function honestTestimony(name: string): Testimony {
  return { name, isDistrusted: false, ...HONEST_TESTIMONY };
}
