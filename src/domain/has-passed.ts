/**
 * Whether so much time has passed since then. A clock that was set counts as time that has passed, in whichever direction
 * it was set: waiting until it is where it was could take hours.
 */
export function hasPassed(sinceMs: number, nowMs: number, ms: number): boolean {
  return Math.abs(nowMs - sinceMs) >= ms;
}
