import type { Quota } from './quota.ts';
import { type FailedTry, nextTryMs } from './retry.ts';

export const ENDPOINT_STATUSES = ['active', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The most endpoints in one mode. */
export const ENDPOINT_QUOTA: Quota = { ofPartner: 20, ofMerchant: 5, ofMerchants: 1_000 };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Waits after the first, second … failed attempt. The last one is repeated. */
export const RETRY_AFTER_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  12 * HOUR_MS,
] as const;

/** A delivery is tried for this long, with a last attempt at the end. */
export const TRIED_FOR_MS = 3 * DAY_MS;
/** An endpoint may ask for a longer wait, up to this. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * An endpoint that only failed for this long is disabled. The last attempt of a delivery comes three days after its event,
 * and the first failure is a little later than the event.
 */
const DISABLED_AFTER_MS = TRIED_FOR_MS - HOUR_MS;

export interface FailedAttempt extends Pick<FailedTry, 'tries' | 'nowMs' | 'jitter'> {
  /** The start of the schedule. */
  readonly begunAtMs: number;
  /** The wait that the receiver asked for. */
  readonly retryAfterMs?: number | undefined;
}

/** The time of the next attempt. Undefined when the delivery has failed for good. */
export function nextAttemptMs({ begunAtMs, retryAfterMs = 0, ...attempt }: FailedAttempt): number | undefined {
  return nextTryMs({
    ...attempt,
    waitsMs: RETRY_AFTER_MS,
    untilMs: begunAtMs + TRIED_FOR_MS,
    leastMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS),
  });
}

/** True if an endpoint that has failed since then is to be disabled. */
export function isGivenUp(failingSinceMs: number, nowMs: number): boolean {
  return nowMs - failingSinceMs >= DISABLED_AFTER_MS;
}

/** The wait that a `Retry-After` header asks for: seconds, or a date. Undefined if there is none, or it cannot be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS;
  const atMs = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)
    ? Date.parse(header)
    : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
