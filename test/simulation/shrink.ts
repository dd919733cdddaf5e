import type { Mutant } from './mutants.ts';
import type { Plan } from './plan.ts';
import { type RunResult, runPlan } from './run.ts';

/** A failing plan is tried in at most this many smaller forms. */
const MAX_RUNS = 24;

/**
 * Makes a failing plan smaller while the same invariant is violated: fewer kinds of faults, a shorter time, fewer
 * clients and nodes. Each actor draws from a stream of its own, so the others keep their plans.
 */
export async function shrink(failed: RunResult, mutant?: Mutant): Promise<RunResult> {
  let smallest = failed;
  let runs = 0;
  for (let hasShrunk = true; hasShrunk && runs < MAX_RUNS; ) {
    hasShrunk = false;
    for (const plan of smallerThan(smallest.plan)) {
      if (runs >= MAX_RUNS) break;
      runs += 1;
      const result = await runPlan(plan, mutant);
      if (result.violation?.invariant !== failed.violation?.invariant) continue;
      smallest = result;
      hasShrunk = true;
      break;
    }
  }
  return smallest;
}

/** Smaller plans, the boldest first. */
function* smallerThan(plan: Plan): Generator<Plan> {
  const { faults, clients, nodes, troubleMs } = plan;
  const half = Math.ceil(faults.length / 2);
  if (faults.length > 0) yield { ...plan, faults: [] };
  if (faults.length > 1) {
    yield { ...plan, faults: faults.slice(0, half) };
    yield { ...plan, faults: faults.slice(half) };
  }
  if (clients > 1) yield { ...plan, clients: Math.ceil(clients / 2) };
  if (plan.hasSecondNetwork) yield { ...plan, hasSecondNetwork: false };
  if (plan.hasRestore) yield { ...plan, hasRestore: false };
  if (plan.hasOperator) yield { ...plan, hasOperator: false };
  if (nodes > 1) yield { ...plan, nodes: nodes - 1 };
  if (troubleMs > 5_000) yield { ...plan, troubleMs: Math.floor(troubleMs / 2) };
}
