import type { Clock } from './world.ts';

/** A clock that shows the time of another machine, measured again and again. */
export interface FollowedClock extends Clock {
  take(reading: ClockReading): void;
}

/** The other machine's time, asked for and answered at these times of the base clock. */
export interface ClockReading {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly theirMs: number;
}

/** A difference above this is a clock that was set. It is corrected in one step, because time near a deadline must be right. */
const STEP_MS = 1_000;
/** A smaller difference is corrected by this much with each reading, so that time never goes back and no timeout jumps. */
const SLEW_MS = 5;
/** The best of this many readings counts. */
const KEPT_READINGS = 16;
/** The first readings set the clock. */
const FIRST_READINGS = 5;

interface Measured {
  readonly offsetMs: number;
  /** The answer was given at an unknown moment between question and arrival, so the offset may be wrong by half of that. */
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

/** True if no offset can explain both readings: one of the two clocks was set in between, and older readings are worthless. */
function contradict(one: Measured, other: Measured): boolean {
  return Math.abs(one.offsetMs - other.offsetMs) > one.errorMs + other.errorMs + STEP_MS;
}
