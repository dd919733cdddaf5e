interface KeptSeed {
  readonly seed: number;
  /** The reason to keep it. */
  readonly why: string;
  /** True if only the long test run has time for it. */
  readonly isLong: boolean;
}

/** Seeds that the tests repeat. The first is run twice, and must replay to the same trace. */
export const KEPT_SEEDS: readonly [KeptSeed, ...KeptSeed[]] = [
  { seed: 175, why: 'crashes, a zombie and endpoints out of reach', isLong: false },
  { seed: 33, why: 'payouts, lost broadcasts, a reverted batch and a freeze', isLong: false },
  { seed: 3, why: 'rising fees, missing logs, a lying and a lagging endpoint', isLong: true },
  { seed: 2, why: 'freezes, zombies, crashes and cut connections during payouts and refunds', isLong: true },
  { seed: 77, why: 'three nodes, a reorganisation and a forged payment', isLong: true },
  { seed: 96, why: 'refunds, forged payments and a revoked key', isLong: true },
];
