/**
 * True if `ms` milliseconds have passed since `sinceMs`. If the clock was set forward or backward by as much, that counts as time
 * passed, too: waiting for the clock to catch up could take hours.
 */
export function hasPassed(sinceMs: number, nowMs: number, ms: number): boolean {
  return Math.abs(nowMs - sinceMs) >= ms;
}
