import { unshifted } from '../runtime/shifted-clock.ts';
import type { Clock } from '../runtime/world.ts';

/** Reports a condition only after it has lasted for some time: a restart or a short failure is no reason to wake a person. */
export interface Lasting {
  /** Returns the message if every call for this subject in the last `forMs` milliseconds had one. Must be called at every check. */
  of(subject: string, message: string | undefined): string | undefined;
}

export function createLasting(clock: Clock, forMs: number): Lasting {
  const since = new Map<string, number>();
  return {
    of(subject, message) {
      if (message === undefined) {
        since.delete(subject);
        return undefined;
      }
      const nowMs = unshifted(clock).nowMs();
      const sinceMs = since.get(subject) ?? nowMs;
      since.set(subject, sinceMs);
      return nowMs - sinceMs >= forMs ? message : undefined;
    },
  };
}
