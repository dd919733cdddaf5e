/** Seeds that every test run repeats, with the reason to keep each. They must replay to the same trace. */
export const KEPT_SEEDS: readonly { readonly seed: number; readonly why: string }[] = [
  { seed: 2, why: 'freezes, zombies, crashes and cut connections during payouts and refunds' },
  { seed: 3, why: 'evicted transactions, reverted batches and rising fees' },
  { seed: 6, why: 'three nodes, lost broadcasts and missing logs' },
];
