import type { Clock } from './world.ts';

/** The rate of requests that this node answers. Work that can wait gives way to them. */
export interface RequestRate {
  note(): void;
  perSecond(): number;
}

const WINDOW_MS = 1_000;

export function createRequestRate(clock: Clock): RequestRate {
  let startMs = clock.nowMs();
  let count = 0;
  let lastPerSecond = 0;
  return {
    note() {
      count += 1;
    },
    perSecond() {
      const passedMs = clock.nowMs() - startMs;
      if (passedMs >= WINDOW_MS) {
        lastPerSecond = (count * 1000) / passedMs;
        startMs += passedMs;
        count = 0;
      }
      return lastPerSecond;
    },
  };
}
