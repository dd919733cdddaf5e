import type { Quota } from './quota.ts';
import { type FailedTry, nextTryMs } from './retry.ts';

export const ENDPOINT_STATUSES = ['active', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The maximum numbers of webhook endpoints per mode. */
export const ENDPOINT_QUOTA: Quota = { ofPartner: 20, ofMerchant: 5, ofMerchants: 1_000 };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The waits after the first, second … failed attempt. The last wait is repeated. */
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

/** The time for which a delivery is tried. The last attempt is made at the end of this time. */
export const TRIED_FOR_MS = 3 * DAY_MS;
/** The limit of the wait that a receiver may ask for. A receiver may ask for a longer wait than the schedule has. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * An endpoint is disabled if all its attempts have failed for this time, counted from the first failure. The time is a little
 * shorter than `TRIED_FOR_MS`, because the first failure is later than the event. So the last attempt of the first delivery
 * disables the endpoint.
 */
const DISABLED_AFTER_MS = TRIED_FOR_MS - HOUR_MS;

export interface FailedAttempt extends Pick<FailedTry, 'tries' | 'nowMs' | 'jitter'> {
  /** The time at which the schedule of the delivery began. */
  readonly begunAtMs: number;
  readonly retryAfterMs?: number | undefined;
}

/** The time of the next attempt. Undefined if the delivery has failed for good. */
export function nextAttemptMs({ begunAtMs, retryAfterMs = 0, ...attempt }: FailedAttempt): number | undefined {
  return nextTryMs({
    ...attempt,
    waitsMs: RETRY_AFTER_MS,
    untilMs: begunAtMs + TRIED_FOR_MS,
    leastMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS),
  });
}

export function isGivenUp(failingSinceMs: number, nowMs: number): boolean {
  return nowMs - failingSinceMs >= DISABLED_AFTER_MS;
}

/** The wait that a `Retry-After` header asks for, as seconds or a date. Undefined if the header is missing or unreadable. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS;
  const atMs = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)
    ? Date.parse(header)
    : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
