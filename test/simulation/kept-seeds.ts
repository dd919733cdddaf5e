interface KeptSeed {
  readonly seed: number;
  /** The reason to keep it. */
  readonly why: string;
  /** True if only the long test run has time for it. */
  readonly isLong: boolean;
}

/** Seeds that the tests repeat. The first is run twice, and must replay to the same trace. */
export const KEPT_SEEDS: readonly [KeptSeed, ...KeptSeed[]] = [
  { seed: 2, why: 'freezes, zombies, crashes and cut connections during payouts and refunds', isLong: false },
  { seed: 3, why: 'evicted transactions, reverted batches and rising fees', isLong: false },
  { seed: 6, why: 'three nodes, lost broadcasts and missing logs', isLong: true },
];
