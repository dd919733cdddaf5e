import type { Quota } from './quota.ts';
import { type FailedTry, nextTryMs } from './retry.ts';

export const ENDPOINT_STATUSES = ['active', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The most endpoints per mode. */
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

/** A delivery is tried for this long. The last attempt is at the end. */
export const TRIED_FOR_MS = 3 * DAY_MS;
/** A receiver may ask for a longer wait than the schedule has, up to this. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * An endpoint whose attempts all failed for this long is disabled. It is a little shorter than `TRIED_FOR_MS`, because the
 * first failure is later than the event: so the last attempt of the first delivery disables the endpoint.
 */
const DISABLED_AFTER_MS = TRIED_FOR_MS - HOUR_MS;

export interface FailedAttempt extends Pick<FailedTry, 'tries' | 'nowMs' | 'jitter'> {
  /** The start of the schedule. */
  readonly begunAtMs: number;
  readonly retryAfterMs?: number | undefined;
}

/** Undefined if the delivery has failed for good. */
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

/** The wait in the header, as seconds or a date. Undefined if the header is missing or unreadable. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS;
  const atMs = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)
    ? Date.parse(header)
    : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
