import type { Clock, Log } from './world.ts';

/**
 * Logs a warning that may occur many times a second: at once, and then from time to time with the number of
 * occurrences.
 */
export type SparseWarning = (subject: string, fields: Readonly<Record<string, unknown>>, text: string) => void;

const REPEAT_MS = 30_000;
/** Subjects are names of networks and endpoints; more than this many are not remembered. */
const MAX_SUBJECTS = 1_000;

export function createSparseWarning(clock: Clock, log: Pick<Log, 'warn'>): SparseWarning {
  const told = new Map<string, { atMs: number; unsaid: number }>();
  return (subject, fields, text) => {
    const nowMs = clock.nowMs();
    const last = told.get(subject);
    // A clock that was set back makes it speak again, and never keeps it silent.
    if (last !== undefined && Math.abs(nowMs - last.atMs) < REPEAT_MS) {
      last.unsaid += 1;
      return;
    }
    if (told.size >= MAX_SUBJECTS) told.delete(told.keys().next().value ?? '');
    told.set(subject, { atMs: nowMs, unsaid: 0 });
    log.warn({ ...fields, ...(last !== undefined && last.unsaid > 0 && { timesSince: last.unsaid }) }, text);
  };
}
