import type { ChainEvent, Incoming } from '../chain-reader.ts';

/** The false facts that a test script makes one endpoint report: as a witness, and as the first endpoint of a call. */
export interface Testimony extends TestimonyLies {
  readonly name: string;
  /** True if two other endpoints contradicted this endpoint. */
  isDistrusted: boolean;
}

export interface TestimonyLies {
  /**
   * The milliseconds of silence that the endpoint reports. If this is set, every request to the endpoint fails. Undefined if it
   * answers.
   */
  silentForMs: number | undefined;
  /** The number of blocks that the endpoint claims beyond the head. Negative if it lags behind. */
  headAhead: number;
  /** True if the endpoint's blocks differ from those of the other endpoints. */
  hasOtherBlocks: boolean;
  /** True if the endpoint reports every authorization as unused. */
  deniesUse: boolean;
  /** The number that is added to every nonce. The reported nonce is never below zero. */
  addsToNonces: number;
  /** The amount that is added to every balance. */
  addsToHoldings: bigint;
  /** The first block at which `addsToHoldings` applies to balances. */
  addsFrom: number;
  /** The seconds that are added to every block time. */
  addsToTimesS: number;
  /** The amount that is added to the cost of every transaction, in the smallest unit of the coin. */
  addsToCosts: bigint;
  /** True if every simulation is reported as refused. */
  refuses: boolean;
  /** True if the endpoint accepts every transaction and passes none of them on. */
  swallows: boolean;
  /** True if the endpoint reports that no payer has a balance or an allowance. */
  deniesFunds: boolean;
  /** The tip per gas that the endpoint reports, and below it the base fee. Undefined if the endpoint reports the true value. */
  tip: bigint | undefined;
  baseFee: bigint | undefined;
  /** The commitments whose events the endpoint hides. */
  hidden: readonly string[];
  /** Forged events that the endpoint adds, also to the receipts of their transactions. */
  invented: readonly ChainEvent[];
  /** Forged transfers that the endpoint adds to its lists. It also adds them to receipts, unless `hasHonestReceipts` is true. */
  inventedTransfers: readonly Incoming[];
  /** True if the endpoint's lists of transfers are empty. Its receipts still contain all transfers. */
  listsNoTransfers: boolean;
  /** True if the endpoint's receipts do not contain the transfers of `inventedTransfers`. */
  hasHonestReceipts: boolean;
}

export const HONEST_TESTIMONY: TestimonyLies = {
  silentForMs: undefined,
  headAhead: 0,
  hasOtherBlocks: false,
  deniesUse: false,
  addsToNonces: 0,
  addsToHoldings: 0n,
  addsFrom: 0,
  addsToTimesS: 0,
  addsToCosts: 0n,
  refuses: false,
  swallows: false,
  deniesFunds: false,
  tip: undefined,
  baseFee: undefined,
  hidden: [],
  invented: [],
  inventedTransfers: [],
  listsNoTransfers: false,
  hasHonestReceipts: false,
};

export function honestTestimony(name: string): Testimony {
  return { name, isDistrusted: false, ...HONEST_TESTIMONY };
}

/** The amount that the endpoint falsely adds to a balance at this block. */
export function addedAt({ addsToHoldings, addsFrom }: TestimonyLies, block: number): bigint {
  return block >= addsFrom ? addsToHoldings : 0n;
}

/** The endpoints in the order in which they are asked: endpoints that two others contradicted come last. */
export function inOrder(testimonies: readonly Testimony[]): readonly Testimony[] {
  return testimonies.toSorted((a, b) => Number(a.isDistrusted) - Number(b.isDistrusted));
}

/** The gas prices that follow from the endpoints' answers: the lower tip of the first two endpoints, and the median base fee of all. */
export function reportedFees(
  testimonies: readonly Testimony[],
  market: { readonly base: bigint; readonly tip: bigint },
): { readonly base: bigint; readonly tip: bigint } {
  const reported = inOrder(testimonies);
  const tips = reported.slice(0, 2).map(({ tip }) => tip ?? market.tip);
  const bases = reported.map(({ baseFee }) => baseFee ?? market.base).sort((a, b) => (a < b ? -1 : 1));
  return {
    base: bases[Math.floor(bases.length / 2)] ?? market.base,
    tip: tips.reduce((lower, tip) => (tip < lower ? tip : lower), tips[0] ?? market.tip),
  };
}
