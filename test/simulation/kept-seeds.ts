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
  {
    plan: shortPlanOf(2),
    why: 'a link with fewer pieces than payers, and webhooks that are sent again',
    isLong: false,
  },
  { plan: shortPlanOf(1), why: 'wallets, a reorganisation and a lying endpoint', isLong: true },
  { plan: shortPlanOf(4), why: 'programs that pay by x402, and crashes', isLong: true },
  { plan: shortPlanOf(10), why: 'transfers to addresses, and gas that becomes dearer', isLong: true },
  { plan: planOf(3), why: 'all ways to pay, reverted batches and forged transfers', isLong: true },
  { plan: planOf(4), why: 'x402, crashes, wrong clocks and missing logs', isLong: true },
  { plan: planOf(5), why: 'links, zombies and endpoints out of reach', isLong: true },
  { plan: planOf(7), why: 'three nodes, all ways to pay, crashes and zombies', isLong: true },
  { plan: planOf(8), why: 'three nodes, x402, cut connections and forged payments', isLong: true },
  {
    plan: shortPlanOf(509),
    why: 'a stranger is faster than our transaction, and the books knew of no authorization under way',
    isLong: true,
  },
  {
    plan: shortPlanOf(975),
    why: 'a held amount is paid out after everything else has ended, and the run ended before the payout',
    isLong: true,
  },
  {
    plan: shortPlanOf(30001),
    why: 'a restore forgets that the stock of a link was raised, and the chain shows two payments of its one piece',
    isLong: true,
  },
];
