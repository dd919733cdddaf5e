import type { Clock, World } from './world.ts';

/** The clock of a sandbox, which can be moved forward. Expiries, quotes and billing periods use it. */
interface ShiftedClock extends Clock {
  /** The real clock, which cannot be moved. */
  readonly unshifted: Clock;
  /** Milliseconds by which the sandbox's clock is ahead of the real clock. */
  aheadMs(): number;
}

export function shiftClock(unshifted: Clock, aheadMs: () => number): Clock {
  const clock: ShiftedClock = { nowMs: () => unshifted.nowMs() + aheadMs(), unshifted, aheadMs };
  return clock;
}

/** The real clock, for leases, rate limits, timeouts and measurements: a move of a sandbox's clock must not end them. */
export function unshifted(clock: Clock): Clock {
  return 'unshifted' in clock ? (clock as ShiftedClock).unshifted : clock;
}

/** Milliseconds by which the clock is ahead of the real clock; 0 outside a sandbox. */
export function shiftOf(clock: Clock): number {
  return 'aheadMs' in clock ? (clock as ShiftedClock).aheadMs() : 0;
}

/** The same world with the real clock. */
export function unshiftedWorld<W extends Pick<World, 'clock'>>(world: W): W {
  return { ...world, clock: unshifted(world.clock) };
}
