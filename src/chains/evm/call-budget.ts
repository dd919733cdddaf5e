import { fullBucket, refill, waitMs } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * How many calls a provider takes in a second. The rate is what the operator set until the provider objects; then it is half
 * of what was too much, and grows back in seconds: asking too much once more costs a short pause, asking too little for long
 * costs payers.
 */
export interface CallBudget {
  /** Milliseconds until calls may be sent; 0 when they may be now. */
  waitMs(): number;
  /** A batch is sent as a whole, so it may overdraw. */
  take(calls: number): void;
  /** The provider said that it was too much. */
  slowDown(): void;
}

/**
 * No provider in use takes fewer. One that refuses even this has another reason, such as a quota of the month, and asking
 * more slowly would not help.
 */
const MIN_PER_S = 20;
/** A halved rate has doubled again after this long. */
const RECOVERY_S = 3;

export function createCallBudget(clock: Clock, maxPerS: number): CallBudget {
  const bucket = fullBucket(maxPerS, clock.nowMs());
  const minPerS = Math.min(MIN_PER_S, maxPerS);
  /** Calls sent in this second and in the one before, since the provider last objected. */
  let sent = { sinceMs: bucket.filledAtMs, calls: 0, callsBefore: 0 };

  function update(): number {
    const nowMs = clock.nowMs();
    const passedS = Math.max(0, nowMs - bucket.filledAtMs) / 1000;
    bucket.perSecond = Math.min(maxPerS, bucket.perSecond * 2 ** (passedS / RECOVERY_S));
    refill(bucket, nowMs);
    return nowMs;
  }

  return {
    waitMs: () => {
      update();
      return waitMs(bucket);
    },
    take: (calls) => {
      const nowMs = update();
      bucket.tokens -= calls;
      const agoMs = Math.abs(nowMs - sent.sinceMs);
      if (agoMs >= 1000) sent = { sinceMs: nowMs, calls: 0, callsBefore: agoMs < 2000 ? sent.calls : 0 };
      sent.calls += calls;
    },
    slowDown: () => {
      const nowMs = update();
      bucket.tokens = Math.min(bucket.tokens, 0);
      const sentPerS = Math.max(sent.calls, sent.callsBefore);
      // It was not the rate: the request was a lone one after a pause, or one of many that were refused in this moment.
      if (sentPerS <= minPerS) return;
      bucket.perSecond = Math.max(minPerS, Math.min(bucket.perSecond, sentPerS) / 2);
      sent = { sinceMs: nowMs, calls: 0, callsBefore: 0 };
    },
  };
}
