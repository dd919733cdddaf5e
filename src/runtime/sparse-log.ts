import type { Clock, Log } from './world.ts';

/** Logs a warning that may occur many times a second: the first at once, later ones at intervals, with the number of suppressed ones. */
export type SparseWarning = (subject: string, fields: Readonly<Record<string, unknown>>, text: string) => void;

const REPEAT_MS = 30_000;
/** The largest number of remembered subjects, such as networks and endpoints. Above this number the oldest subject is forgotten. */
const MAX_SUBJECTS = 1_000;

export function createSparseWarning(clock: Clock, log: Pick<Log, 'warn'>): SparseWarning {
  const reported = new Map<string, { atMs: number; suppressed: number }>();
  return (subject, fields, text) => {
    const nowMs = clock.nowMs();
    const last = reported.get(subject);
    // If the clock was set back, the warning is logged again rather than suppressed.
    if (last !== undefined && Math.abs(nowMs - last.atMs) < REPEAT_MS) {
      last.suppressed += 1;
      return;
    }
    if (reported.size >= MAX_SUBJECTS) reported.delete(reported.keys().next().value ?? '');
    reported.set(subject, { atMs: nowMs, suppressed: 0 });
    log.warn({ ...fields, ...(last !== undefined && last.suppressed > 0 && { timesSince: last.suppressed }) }, text);
  };
}
