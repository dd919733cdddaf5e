/**
 * True if `ms` have passed. A clock that was set, forward or backward, counts as time passed: waiting for the clock to catch up
 * could take hours.
 */
export function hasPassed(sinceMs: number, nowMs: number, ms: number): boolean {
  return Math.abs(nowMs - sinceMs) >= ms;
}
