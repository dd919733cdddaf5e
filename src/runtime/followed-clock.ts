import type { Clock } from './world.ts';

/** A clock that follows the clock of another machine by repeated measurements. */
export interface FollowedClock extends Clock {
  take(reading: ClockReading): void;
}

/** The other machine's time, and the times at which this machine sent the request and got the answer. */
export interface ClockReading {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly theirMs: number;
}

/**
 * A difference of more than this between the clocks means that one of them was set. It is corrected in one step, because deadlines
 * need the right time.
 */
const STEP_MS = 1_000;
/** The largest correction after one reading, if no step is needed. So no timeout jumps, and time goes back by no more than this. */
const SLEW_MS = 5;
/** The number of readings that are kept. Among them, the one with the smallest error counts. */
const KEPT_READINGS = 16;
/** Up to this many readings, each reading sets the clock in one step. */
const FIRST_READINGS = 5;

interface Measured {
  readonly offsetMs: number;
  /**
   * The largest error of the offset: half of the time between request and answer, because the other clock was read at an unknown
   * moment in it.
   */
  readonly errorMs: number;
}

export function createFollowedClock(base: Clock): FollowedClock {
  let kept: Measured[] = [];
  let offsetMs = 0;
  return {
    nowMs: () => Math.floor(base.nowMs() + offsetMs),
    take({ askedAtMs, answeredAtMs, theirMs }) {
      const errorMs = (answeredAtMs - askedAtMs) / 2;
      const measured = { offsetMs: theirMs - askedAtMs - errorMs, errorMs };
      if (kept.some((other) => contradict(measured, other))) kept = [];
      kept = [...kept, measured].slice(-KEPT_READINGS);
      const best = kept.reduce((a, b) => (b.errorMs < a.errorMs ? b : a));
      const differenceMs = best.offsetMs - offsetMs;
      if (kept.length <= FIRST_READINGS || Math.abs(differenceMs) > STEP_MS + best.errorMs) offsetMs = best.offsetMs;
      else if (Math.abs(differenceMs) > best.errorMs) offsetMs += Math.max(-SLEW_MS, Math.min(SLEW_MS, differenceMs));
    },
  };
}

/** True if no offset can explain both readings. Then one of the clocks was set between them, and older readings are worthless. */
function contradict(one: Measured, other: Measured): boolean {
  return Math.abs(one.offsetMs - other.offsetMs) > one.errorMs + other.errorMs + STEP_MS;
}
