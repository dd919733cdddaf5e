import type { ChainEvent } from '../chain.ts';

/** The lies of one endpoint: when it is asked alone, and as the first of all for an answer that one endpoint gives. */
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
  /** It adds this much to the time of every block. */
  addsToTimesS: number;
  /** It adds this much to the cost of every transaction, in the smallest unit of the coin. */
  addsToCosts: bigint;
  /** It lets no simulation succeed. */
  refuses: boolean;
  /** It reports that no payer has a token or an allowance. */
  deniesFunds: boolean;
  /** The tip and the base fee that it reports. */
  tip: bigint | undefined;
  baseFee: bigint | undefined;
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
  addsToTimesS: 0,
  addsToCosts: 0n,
  refuses: false,
  deniesFunds: false,
  tip: undefined,
  baseFee: undefined,
  hidden: [],
  invented: [],
};

export function honestTestimony(name: string): Testimony {
  return { name, isDistrusted: false, ...HONEST_TESTIMONY };
}

/** The endpoints in the order in which they are asked: those that two others have contradicted come last. */
export function inOrder(testimonies: readonly Testimony[]): readonly Testimony[] {
  return testimonies.toSorted((a, b) => Number(a.isDistrusted) - Number(b.isDistrusted));
}

/** The price of gas by the endpoints: the lower tip of the first two, and the base fee in the middle. */
export function toldFees(
  testimonies: readonly Testimony[],
  market: { readonly base: bigint; readonly tip: bigint },
): { readonly base: bigint; readonly tip: bigint } {
  const told = inOrder(testimonies);
  const tips = told.slice(0, 2).map(({ tip }) => tip ?? market.tip);
  const bases = told.map(({ baseFee }) => baseFee ?? market.base).sort((a, b) => (a < b ? -1 : 1));
  return {
    base: bases[Math.floor(bases.length / 2)] ?? market.base,
    tip: tips.reduce((lower, tip) => (tip < lower ? tip : lower), tips[0] ?? market.tip),
  };
}
