import { ApiError } from '../../errors.ts';
import type { Clock } from '../../runtime/world.ts';

/** Limits how often something may happen under one name within ten minutes, in this node's memory. */
export interface CountLimit {
  /** Throws `rate_limited` if the limit is reached for one of the names. */
  check(names: readonly string[]): void;
  note(names: readonly string[]): void;
}

export interface CountLimitInput {
  readonly max: number;
  readonly message: string;
}

const WINDOW_MS = 10 * 60_000;
const MAX_NAMES = 50_000;

/** Only failures count, so a whole office may sign in at nine o'clock. */
export const SIGN_IN_FAILURES = { max: 20, message: 'Too many failed sign-ins. Try again later.' };

/** Payments that one address creates by one payment link. The limit is high, because visitors of a café share an address. */
export const LINK_ORDERS = { max: 30, message: 'Too many payments by this link. Try again in some minutes.' };

export const MAILED_RECEIPTS = {
  max: 20,
  message: 'Too many receipts were mailed for this address. Try again in some minutes.',
};

export const PRINTS = {
  max: 60,
  message: 'Too many receipts were printed for this address. Try again in some minutes.',
};

export function createCountLimit(clock: Clock, { max, message }: CountLimitInput): CountLimit {
  const counts = new Map<string, { count: number; readonly endMs: number }>();

  function current(name: string, nowMs: number) {
    const known = counts.get(name);
    if (known !== undefined && known.endMs > nowMs) return known;
    counts.delete(name);
    return undefined;
  }

  return {
    check(names) {
      const nowMs = clock.nowMs();
      for (const name of names) {
        const known = current(name, nowMs);
        if (known === undefined || known.count < max) continue;
        throw new ApiError('rate_limited', message, { retryAfterS: Math.ceil((known.endMs - nowMs) / 1000) });
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
        // A full table drops its oldest name, so that a flood of names does not grow the memory without bound.
        if (counts.size >= MAX_NAMES) counts.delete(counts.keys().next().value ?? '');
        counts.set(name, { count: 1, endMs: nowMs + WINDOW_MS });
      }
    },
  };
}
