import type { Clock, World } from './world.ts';

/** The time of a sandbox, which can be moved forward. It is the time of expiries, quotes and periods. */
interface ShiftedClock extends Clock {
  /** The clock that nobody can move. */
  readonly unshifted: Clock;
  /** The time by which it is ahead of that one. */
  aheadMs(): number;
}

export function shiftClock(unshifted: Clock, aheadMs: () => number): Clock {
  const clock: ShiftedClock = { nowMs: () => unshifted.nowMs() + aheadMs(), unshifted, aheadMs };
  return clock;
}

/**
 * The clock for leases, rate limits, timeouts and measurements. Moving the time of a sandbox must end none of them.
 * Outside a sandbox there is only one clock.
 */
export function unshifted(clock: Clock): Clock {
  return 'unshifted' in clock ? (clock as ShiftedClock).unshifted : clock;
}

/** The time by which the clock is ahead; 0 outside a sandbox. */
export function shiftOf(clock: Clock): number {
  return 'aheadMs' in clock ? (clock as ShiftedClock).aheadMs() : 0;
}

/** The same world with the clock that nobody can move. */
export function unshiftedWorld<W extends Pick<World, 'clock'>>(world: W): W {
  return { ...world, clock: unshifted(world.clock) };
}
