import { type Plan, planOf, shortPlanOf } from './plan.ts';

interface KeptSeed {
  readonly plan: Plan;
  /** The reason to keep it. */
  readonly why: string;
  /** True if only the long test run has time for it. */
  readonly isLong: boolean;
}

/** Seeds that the tests repeat. The first is run twice, and must replay to the same trace. */
export const KEPT_SEEDS: readonly [KeptSeed, ...KeptSeed[]] = [
  { plan: shortPlanOf(11), why: 'a receiver that misbehaves, and an evicted transaction', isLong: false },
  { plan: shortPlanOf(55), why: 'a crash, a reorganisation, missing logs and freezes around a payout', isLong: false },
  { plan: shortPlanOf(57), why: 'a lying endpoint, a wrong clock and a revoked key around a refund', isLong: false },
  { plan: planOf(2), why: 'crashes, zombies and receivers that misbehave', isLong: true },
  { plan: planOf(5), why: 'forged payments, and webhooks that are sent again', isLong: true },
  { plan: planOf(6), why: 'three nodes, lost broadcasts, zombies and endpoints out of reach', isLong: true },
  { plan: planOf(7), why: 'three nodes, a lying endpoint and missing logs', isLong: true },
  { plan: planOf(8), why: 'three nodes, reverted batches and cut connections', isLong: true },
];
