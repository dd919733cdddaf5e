import type { Timers } from '../runtime/world.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { isFeedName } from '../store/events/placing.ts';

/** Sleeps for the given time, or until it is woken. */
export type Nap = (ms: number, signal: AbortSignal) => Promise<void>;

export interface Wake {
  all(): void;
  sleeper(): Nap;
}

/** Wakes all sleepers when an object has changed. A new payment alone wakes nobody: it gives the workers nothing to do. */
export function wakeByChanges(feed: EventFeed, wake: Pick<Wake, 'all'>): void {
  feed.subscribe((names) => {
    if (names === undefined || names.some((name) => !isFeedName(name))) wake.all();
  });
}

/** Creates sleepers whose sleep a wake-up ends early. A wake-up just before a sleep also ends that sleep. */
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
        if (hasNews) return;
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
