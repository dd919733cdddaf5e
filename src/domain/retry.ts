/** A failed try of an action that is repeated until `untilMs`. */
export interface FailedTry {
  /** The waits after the first, second … failed try. The last wait is repeated. */
  readonly waitsMs: readonly number[];
  /** The number of failed tries, including this one. */
  readonly tries: number;
  readonly nowMs: number;
  /** The time of the final try. After it, the action is not tried again. */
  readonly untilMs: number;
  /** The least wait, if the receiver asked for one. */
  readonly leastMs?: number;
  /** A random factor for the wait, between 0.8 and 1.2, so that tries that failed together are not repeated together. */
  readonly jitter: number;
}

/** The time of the next try. Undefined if the failed one was the final try. */
export function nextTryMs({ waitsMs, tries, nowMs, untilMs, leastMs = 0, jitter }: FailedTry): number | undefined {
  if (nowMs >= untilMs) return undefined;
  const waitMs = waitsMs[Math.min(tries, waitsMs.length) - 1] ?? 0;
  return Math.min(Math.round(nowMs + Math.max(waitMs * jitter, leastMs)), untilMs);
}
