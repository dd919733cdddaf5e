import { setTimeout as sleep } from 'node:timers/promises';
import { readMachineUse } from './cpu-use.ts';

/** More than this share of the machine, used by other programs, makes a measurement doubtful. */
const MAX_OTHERS = 0.1;
const SAMPLE_MS = 500;
const MAX_ATTEMPTS = 3;
/** The bound of all waiting and repeating for one figure, so that a busy machine gets its figures too. */
const BUDGET_MS = 40_000;

/** Measures while the machine is otherwise idle, as far as possible. */
export type Quiet = <T>(measure: () => Promise<T>) => Promise<{ result: T; others: number }>;

/**
 * Waits for an idle moment, and measures again if the machine became busy. Returns the least disturbed attempt with the
 * share of the machine that others used.
 */
export function createQuiet(): Quiet {
  let leftMs = BUDGET_MS;
  return async <T>(measure: () => Promise<T>) => {
    let best: { result: T; others: number } | undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      while (leftMs > 0 && (await shareDuring(() => sleep(SAMPLE_MS))).others > MAX_OTHERS) leftMs -= SAMPLE_MS;
      const startMs = Date.now();
      const found = await shareDuring(measure);
      if (best === undefined || found.others < best.others) best = found;
      if (best.others <= MAX_OTHERS || leftMs <= 0) break;
      leftMs -= Date.now() - startMs;
    }
    if (best === undefined) throw new Error('Nothing was measured.');
    return best;
  };
}

/** The measurement, with the share of the machine that other programs used meanwhile. */
export async function shareDuring<T>(run: () => Promise<T>): Promise<{ result: T; others: number }> {
  const before = await readMachineUse();
  const result = await run();
  const after = await readMachineUse();
  const offeredMs = after.offeredMs - before.offeredMs;
  const others = offeredMs > 0 ? Math.max(0, (after.othersMs - before.othersMs) / offeredMs) : 0;
  return { result, others };
}
