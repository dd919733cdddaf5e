import { MUTANTS, unusedEdits } from './mutants.ts';
import { type Plan, planOf, shortPlanOf } from './plan.ts';
import { runPlan } from './run.ts';

export interface HuntOrder {
  readonly plan: Plan;
  /** True if the plan is run a second time, to compare the traces. */
  readonly isRepeated: boolean;
}

export interface HuntReport {
  readonly plan: Plan;
  /** The message of the violated promise. */
  readonly violation: string | undefined;
  readonly steps: number;
  readonly virtualMs: number;
  readonly faults: number;
  readonly labels: readonly string[];
  /** Whether the second run had the same trace; undefined if there was none. */
  readonly isSame: boolean | undefined;
  /** The first lines that differ. */
  readonly difference: string | undefined;
}

async function hunt({ plan, isRepeated }: HuntOrder): Promise<HuntReport> {
  const { violation, steps, virtualMs, faults, labels, trace } = await runPlan(plan);
  const again = isRepeated && violation === undefined ? (await runPlan(plan)).trace : undefined;
  const place = again && Array.from(again, (line, index) => line === trace[index]).indexOf(false);
  const count = [...faults.values()].reduce((sum, times) => sum + times, 0);
  return {
    plan,
    violation: violation?.message,
    steps,
    virtualMs,
    faults: count,
    labels: [...labels, ...faults.keys()],
    isSame: again && place === -1 && again.length === trace.length,
    difference: again && `line ${place}, "${trace[place ?? 0]}" and "${again[place ?? 0]}"`,
  };
}

export interface MutantOrder {
  readonly mutant: string;
  readonly isShort: boolean;
  /** A mutant that is not caught by this many seeds is missed. */
  readonly most: number;
}

export interface MutantReport {
  /** The promise that noticed it. */
  readonly invariant: string | undefined;
  /** The last plan that was run. */
  readonly plan: Plan;
  /** The number of plans that were run. */
  readonly seeds: number;
  readonly steps: number;
  /** The edits of all mutants that this process has not made yet. */
  readonly unused: readonly string[];
}

/** Runs a mutant until an invariant notices it, beginning with the seed that has caught it before. */
async function tryMutant({ mutant: name, isShort, most }: MutantOrder): Promise<MutantReport> {
  const mutant = MUTANTS.find((each) => each.name === name);
  if (mutant === undefined) throw new Error(`There is no mutant "${name}".`);
  const seeds = new Set([...(isShort ? [mutant.seed] : []), ...Array.from({ length: most }, (_, index) => index + 1)]);
  const planOfSeed = (seed: number) => ({ ...(isShort ? shortPlanOf : planOf)(seed), ...mutant.plan });
  let [tried, steps] = [0, 0];
  for (const seed of seeds) {
    const plan = planOfSeed(seed);
    const result = await runPlan(plan, mutant);
    tried += 1;
    steps += result.steps;
    const invariant = result.violation?.invariant;
    if (invariant !== undefined || tried === seeds.size) {
      return { invariant, plan, seeds: tried, steps, unused: unusedEdits() };
    }
  }
  throw new Error('A mutant is tried with one seed at least.');
}

/** A process that runs one order after the other, as it is told. */
if (process.send !== undefined) {
  process.on('message', (order: HuntOrder | MutantOrder) => {
    void ('mutant' in order ? tryMutant(order) : hunt(order)).then((report) => process.send?.(report));
  });
  process.on('disconnect', () => process.exit());
}
