import type { Timers } from '../runtime/world.ts';

/** Sleeps for that long, or until it is woken. */
export type Nap = (ms: number, signal: AbortSignal) => Promise<void>;

export interface Wake {
  all(): void;
  sleeper(): Nap;
}

/** A sleep that a wake-up ends early, also one that came just before. */
export function createWake(timers: Timers): Wake {
  const sleepers = new Set<() => void>();
  return {
    all: () => {
      for (const wakeUp of sleepers) wakeUp();
    },
    sleeper() {
      let hasNews = false;
      let nap: AbortController | undefined;
      sleepers.add(() => {
        hasNews = true;
        nap?.abort();
      });
      return async (ms, signal) => {
        if (!hasNews) {
          nap = new AbortController();
          await timers.sleep(ms, AbortSignal.any([signal, nap.signal]));
        }
        hasNews = false;
      };
    },
  };
}
