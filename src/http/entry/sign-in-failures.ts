import { ApiError } from '../../errors.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * The limit of failed sign-ins: for each address, and for each passkey that was named. In this node's memory, like the
 * other limits. A sign-in that succeeds costs nothing, so a whole office may sign in at nine o'clock.
 */
export interface SignInFailures {
  /** Throws `rate_limited` if one of these names has failed too often. */
  check(names: readonly string[]): void;
  note(names: readonly string[]): void;
}

const WINDOW_MS = 10 * 60_000;
const MAX_FAILURES = 20;
const MAX_NAMES = 50_000;

export function createSignInFailures(clock: Clock): SignInFailures {
  const failures = new Map<string, { count: number; readonly endMs: number }>();

  function current(name: string, nowMs: number) {
    const known = failures.get(name);
    if (known !== undefined && known.endMs > nowMs) return known;
    failures.delete(name);
    return undefined;
  }

  return {
    check(names) {
      const nowMs = clock.nowMs();
      for (const name of names) {
        const known = current(name, nowMs);
        if (known === undefined || known.count < MAX_FAILURES) continue;
        throw new ApiError('rate_limited', 'Too many failed sign-ins. Try again later.', {
          retryAfterS: Math.ceil((known.endMs - nowMs) / 1000),
        });
      }
    },
    note(names) {
      const nowMs = clock.nowMs();
      for (const name of names) {
        const known = current(name, nowMs);
        if (known !== undefined) {
          known.count += 1;
          continue;
        }
        // A full table drops its oldest name: a flood of names must not grow the memory without end.
        if (failures.size >= MAX_NAMES) failures.delete(failures.keys().next().value ?? '');
        failures.set(name, { count: 1, endMs: nowMs + WINDOW_MS });
      }
    },
  };
}
