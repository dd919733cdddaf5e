import { ApiError } from '../../errors.ts';
import type { Clock } from '../../runtime/world.ts';

/** Limits how often something may happen under one name within ten minutes, in this node's memory. */
export interface CountLimit {
  /**
   * Runs `work`. Throws `rate_limited` instead if one of the names, such as a client address, has reached its limit. Running work
   * also counts against the limit, so simultaneous requests cannot exceed it. When the work ends, `doesCount` decides by the
   * outcome whether it counts.
   */
  run<Result>(
    names: readonly string[],
    work: () => Promise<Result>,
    doesCount: (outcome: Outcome<Result>) => boolean,
  ): Promise<Result>;
}

type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

export interface CountLimitInput {
  readonly max: number;
  readonly message: string;
}

const WINDOW_MS = 10 * 60_000;
const MAX_NAMES = 50_000;

/** The limit of failed sign-ins. Successful ones do not count, so a whole office may sign in at nine o'clock. */
export const SIGN_IN_FAILURES = { max: 20, message: 'Too many failed sign-ins. Try again later.' };

/** The limit of payments that one address creates by one payment link. It is high, because visitors of a café share an address. */
export const LINK_ORDERS = { max: 30, message: 'Too many payments by this link. Try again in some minutes.' };

export const MAILED_RECEIPTS = {
  max: 20,
  message: 'Too many receipts were mailed for this address. Try again in some minutes.',
};

export const PRINTS = {
  max: 60,
  message: 'Too many receipts were printed for this address. Try again in some minutes.',
};

/** The `Retry-After` of a request that is refused only because other work of the caller is still running. */
const UNDER_WAY_S = 1;

interface Count {
  counted: number;
  underWay: number;
  /** The end of the window, which begins with the first work that counts. */
  endMs: number;
}

export function createCountLimit(clock: Clock, { max, message }: CountLimitInput): CountLimit {
  const counts = new Map<string, Count>();

  function refuseIfFull(name: string): void {
    const nowMs = clock.nowMs();
    const count = counts.get(name);
    if (count === undefined) return;
    if (count.endMs <= nowMs) count.counted = 0;
    if (count.counted + count.underWay < max) return;
    const retryAfterS = count.counted < max ? UNDER_WAY_S : Math.ceil((count.endMs - nowMs) / 1000);
    throw new ApiError('rate_limited', message, { retryAfterS });
  }

  function begin(name: string): Count {
    const count = counts.get(name) ?? { counted: 0, underWay: 0, endMs: 0 };
    // A full map drops its oldest name, so that a flood of names does not grow the memory without bound.
    if (counts.size >= MAX_NAMES && !counts.has(name)) counts.delete(counts.keys().next().value ?? '');
    counts.set(name, count);
    count.underWay += 1;
    return count;
  }

  function end(name: string, count: Count, isCounted: boolean): void {
    const nowMs = clock.nowMs();
    count.underWay -= 1;
    if (count.endMs <= nowMs) count.counted = 0;
    if (isCounted && count.counted === 0) count.endMs = nowMs + WINDOW_MS;
    if (isCounted) count.counted += 1;
    if (count.counted + count.underWay === 0 && counts.get(name) === count) counts.delete(name);
  }

  return {
    async run(names, work, doesCount) {
      for (const name of names) refuseIfFull(name);
      const begun = names.map((name) => ({ name, count: begin(name) }));
      let isCounted = true;
      try {
        const result = await work();
        isCounted = doesCount({ result });
        return result;
      } catch (error) {
        isCounted = doesCount({ error });
        throw error;
      } finally {
        for (const { name, count } of begun) end(name, count, isCounted);
      }
    },
  };
}
