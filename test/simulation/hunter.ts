import type { Plan } from './plan.ts';
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

/** A process that runs one plan after the other, as it is told. */
if (process.send !== undefined) {
  process.on('message', (order: HuntOrder) => void hunt(order).then((report) => process.send?.(report)));
  process.on('disconnect', () => process.exit());
}
