/** A failed try of work that is repeated until `untilMs`. */
export interface FailedTry {
  /** Waits after the first, second … failed try. The last wait is repeated. */
  readonly waitsMs: readonly number[];
  /** The number of failed tries, including this one. */
  readonly tries: number;
  readonly nowMs: number;
  /** The time of the last try. */
  readonly untilMs: number;
  /** The least wait, if the other side asked for one. */
  readonly leastMs?: number;
  /** Between 0.8 and 1.2, so that tries that failed together are not repeated together. */
  readonly jitter: number;
}

/** Undefined if the last try has failed. */
export function nextTryMs({ waitsMs, tries, nowMs, untilMs, leastMs = 0, jitter }: FailedTry): number | undefined {
  if (nowMs >= untilMs) return undefined;
  const waitMs = waitsMs[Math.min(tries, waitsMs.length) - 1] ?? 0;
  return Math.min(Math.round(nowMs + Math.max(waitMs * jitter, leastMs)), untilMs);
}
