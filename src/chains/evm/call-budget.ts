import { fullBucket, refill, waitMs } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * Limits the calls per second to a provider. The rate is the operator's setting until the provider objects. Then it is
 * half of the refused rate, and grows back within seconds: another refusal costs a short pause, while a low rate for
 * long delays payers.
 */
export interface CallBudget {
  /** Milliseconds until calls may be sent; 0 if they may be sent now. */
  waitMs(): number;
  /** A batch is sent as a whole, so it may overdraw. */
  take(calls: number): void;
  /** The provider refused for too many requests. */
  slowDown(): void;
}

/**
 * The lowest rate. No provider in use allows less. A refusal at this rate has another reason, such as a monthly quota,
 * and a lower rate would not help.
 */
const MIN_PER_S = 20;
/** A halved rate has doubled again after this long. */
const RECOVERY_S = 3;
/** Questions of the public give way: their rate may fall lower, and grows back slowly. */
const YIELDING = { minPerS: 10, recoveryS: 6 };

export function createCallBudget(
  clock: Clock,
  maxPerS: number,
  { isYielding = false }: { readonly isYielding?: boolean } = {},
): CallBudget {
  const bucket = fullBucket(maxPerS, clock.nowMs());
  const pace = isYielding ? YIELDING : { minPerS: MIN_PER_S, recoveryS: RECOVERY_S };
  const minPerS = Math.min(pace.minPerS, maxPerS);
  /** Calls sent in this second and in the one before, since the provider last objected. */
  let sent = { sinceMs: bucket.filledAtMs, calls: 0, callsBefore: 0 };

  function update(): number {
    const nowMs = clock.nowMs();
    const passedS = Math.max(0, nowMs - bucket.filledAtMs) / 1000;
    bucket.perSecond = Math.min(maxPerS, bucket.perSecond * 2 ** (passedS / pace.recoveryS));
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
      // The rate is not the reason: the request was alone after a pause, or the rate was already halved for this
      // moment's refusals.
      if (sentPerS <= minPerS) return;
      bucket.perSecond = Math.max(minPerS, Math.min(bucket.perSecond, sentPerS) / 2);
      sent = { sinceMs: nowMs, calls: 0, callsBefore: 0 };
    },
  };
}
