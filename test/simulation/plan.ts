import { FAULTS } from './faults.ts';
import { seeded } from './seeded.ts';

/** How an order is paid: with a wallet, by a transfer to an address of its own, by a payment link with a stock, or by a program. */
export const WAYS = ['wallet', 'address', 'link', 'x402'] as const;
export type Way = (typeof WAYS)[number];

/** Everything that a run follows from. The same plan gives the same run. */
export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  readonly clients: number;
  /** The ways to pay that orders choose from. */
  readonly ways: readonly Way[];
  readonly hasOperator: boolean;
  /** Labels of the faults that may happen. */
  readonly faults: readonly string[];
  /** The time during which faults happen. */
  readonly troubleMs: number;
  /** The share of the usual time that clients take, and that passes between two faults. */
  readonly pace: number;
  /** True if the gateway serves a second network, with tokens of other decimals. */
  readonly hasSecondNetwork: boolean;
  /** True if the database is lost in the end, and restored from a backup. */
  readonly hasRestore: boolean;
}

/** Some runs have one way to pay alone: they are shorter. */
const WAYS_OF_RUNS: readonly (readonly Way[])[] = [['wallet'], ['address'], ['link'], ['x402'], WAYS, WAYS];

/** A run of a few thousand steps: one order or two, on two nodes, and a moment of trouble. */
export function shortPlanOf(seed: number): Plan {
  const random = seeded(seed, 'short plan');
  const clients = random.between(1, 2);
  return { ...planOf(seed), nodes: 2, clients, troubleMs: random.between(6_000, 15_000), pace: 0.4 };
}

export function planOf(seed: number): Plan {
  const random = seeded(seed, 'plan');
  return {
    seed,
    nodes: random.pick([2, 2, 2, 3]),
    clients: random.between(3, 7),
    ways: random.pick(WAYS_OF_RUNS),
    hasOperator: random.chance(0.6),
    faults: FAULTS.map(({ label }) => label).filter(() => random.chance(0.6)),
    troubleMs: random.between(25_000, 60_000),
    pace: 1,
    hasSecondNetwork: random.fork('networks').chance(0.4),
    hasRestore: random.fork('restore').chance(0.3),
  };
}
