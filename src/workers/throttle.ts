import type { PaymentWork } from '../runtime/payment-work.ts';
import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import { fullBucket, refill } from '../runtime/token-bucket.ts';
import type { World } from '../runtime/world.ts';

/**
 * Payments have precedence over webhook deliveries, which can wait in their table. While payments wait for this node or its
 * database, deliveries get a small allowance, never zero. While there are payments and the event loop is full, the allowance
 * shrinks. Otherwise it grows without effective limit.
 */
export interface Throttle {
  /** True while payments wait for this node or its database. */
  isBusy(): boolean;
  allowance(): number;
  /** Deducts attempted deliveries from the allowance. */
  use(deliveries: number): void;
  /** Milliseconds until the allowance is enough for a round: a round costs as much as several deliveries. */
  waitMs(): number;
}

/** The active share of the event loop above which it counts as full: requests begin to wait for each other. */
const FULL_SHARE = 0.6;
const WINDOW_MS = 100;
/** The lowest rate of deliveries while payments wait. A flood of payments is noticed within two windows, its end within ten. */
const LEAST_PER_SECOND = 64;
/** The lowest rate (deliveries per second) if the event loop is full but no payment waits, as on a new node that compiles its code. */
const LEAST_WHEN_FULL = 256;
/** The highest rate. It is in effect no limit, because a node cannot attempt so many deliveries in a second. */
const MOST_PER_SECOND = 6_400;
/** The rate after a pause. The first deliveries may come together with a flood of payments that is not noticed yet. */
const FIRST_PER_SECOND = 400;
/** The factors by which the rate of deliveries changes after a window: if payments wait, if the event loop is full, and otherwise. */
const WAITING_FACTOR = 1 / 8;
const FULL_FACTOR = 1 / 2;
const FREE_FACTOR = 2;
const PER_ROUND = 16;
/** The longest time for which unused allowance is kept. */
const KEPT_S = 0.25;

export function createThrottle({
  world,
  paymentWork,
}: {
  readonly world: World;
  readonly paymentWork: PaymentWork;
}): Throttle {
  const { clock, busyMs = () => 0 } = unshiftedWorld(world);
  const bucket = fullBucket(MOST_PER_SECOND, clock.nowMs());
  let measuredAtMs = clock.nowMs();
  let busyBeforeMs = busyMs();
  let isBusy = false;
  let used = 0;

  /** If a window has passed, measures it and adapts the rate. */
  function measure(): void {
    const nowMs = clock.nowMs();
    const passedMs = nowMs - measuredAtMs;
    if (passedMs >= WINDOW_MS) {
      const activeMs = busyMs() - busyBeforeMs;
      const hasWaited = paymentWork.hasWaited();
      const isFull = activeMs > passedMs * FULL_SHARE && paymentWork.isThere();
      isBusy = hasWaited;
      measuredAtMs = nowMs;
      busyBeforeMs += activeMs;
      if (hasWaited) limit(Math.max(LEAST_PER_SECOND, bucket.perSecond * WAITING_FACTOR));
      else if (isFull && bucket.perSecond > LEAST_WHEN_FULL)
        limit(Math.max(LEAST_WHEN_FULL, bucket.perSecond * FULL_FACTOR));
      else grow(isFull ? LEAST_WHEN_FULL : MOST_PER_SECOND);
      if (used === 0) limit(FIRST_PER_SECOND);
      used = 0;
    }
    refill(bucket, nowMs);
    bucket.tokens = Math.min(bucket.tokens, Math.max(PER_ROUND, bucket.perSecond * KEPT_S));
  }

  function grow(atMost: number): void {
    bucket.perSecond = Math.min(atMost, bucket.perSecond * FREE_FACTOR);
  }

  function limit(perSecond: number): void {
    bucket.perSecond = Math.min(bucket.perSecond, perSecond);
    bucket.tokens = Math.min(bucket.tokens, PER_ROUND);
  }

  function isLimited(): boolean {
    measure();
    return bucket.perSecond < MOST_PER_SECOND;
  }

  return {
    isBusy() {
      measure();
      return isBusy;
    },
    allowance: () => (isLimited() ? Math.max(0, Math.floor(bucket.tokens)) : Number.POSITIVE_INFINITY),
    use(deliveries) {
      used += deliveries;
      bucket.tokens -= deliveries;
    },
    waitMs() {
      if (!isLimited() || bucket.tokens >= PER_ROUND) return 0;
      // The wait is not longer than a window, because the rate may change after each window.
      return Math.min(WINDOW_MS, Math.ceil(((PER_ROUND - bucket.tokens) * 1000) / bucket.perSecond));
    },
  };
}
