import { fullBucket, refill, waitMs } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * Limits the calls per second to a provider. The rate is the operator's setting until the provider refuses calls. The rate then
 * falls to half of the refused rate, and grows back within seconds: a long recovery would delay payers, while a further refusal
 * costs only a short pause.
 */
export interface CallBudget {
  /** Milliseconds until calls may be sent. 0 if they may be sent now. */
  waitMs(): number;
  /** Takes calls from the budget. Calls of a batch are sent together, so the budget may become negative. */
  take(calls: number): void;
  /** Called when the provider refused a request because there were too many. */
  slowDown(): void;
}

/** The lowest rate. No provider in use allows less, so a refusal at this rate has another cause, such as a quota. */
const MIN_PER_S = 20;
/** The time after which a halved rate has doubled again. */
const RECOVERY_S = 3;
/**
 * The limits of calls that public requests cause. Their rate may fall lower and grows back more slowly, so that they yield to all
 * other calls.
 */
const YIELDING = { minPerS: 10, recoveryS: 6 };

export function createCallBudget(
  clock: Clock,
  maxPerS: number,
  { isYielding = false }: { readonly isYielding?: boolean } = {},
): CallBudget {
  const bucket = fullBucket(maxPerS, clock.nowMs());
  const pace = isYielding ? YIELDING : { minPerS: MIN_PER_S, recoveryS: RECOVERY_S };
  const minPerS = Math.min(pace.minPerS, maxPerS);
  /** Calls sent in this second and in the previous second, since the provider's last refusal. */
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
      // The call rate did not cause this refusal: the request was alone after a pause, or an earlier refusal of the same moment
      // has already halved the rate.
      if (sentPerS <= minPerS) return;
      bucket.perSecond = Math.max(minPerS, Math.min(bucket.perSecond, sentPerS) / 2);
      sent = { sinceMs: nowMs, calls: 0, callsBefore: 0 };
    },
  };
}
