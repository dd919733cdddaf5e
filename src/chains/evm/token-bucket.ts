import type { Clock } from '../../runtime/world.ts';

/**
 * How many calls a provider takes in a second. The rate is what the operator set until the provider objects; then it is half
 * of what was too much, and grows back in seconds: asking too much once more costs a short pause, asking too little for long
 * costs payers.
 */
export interface TokenBucket {
  /** Milliseconds until calls may be sent; 0 when they may be now. */
  waitMs(): number;
  /** A batch is sent as a whole, so it may overdraw. */
  take(calls: number): void;
  /** The provider said that it was too much. */
  slowDown(): void;
}

/** A burst may use this much time's worth of calls at once. */
const BURST_S = 1;
/**
 * No provider in use takes fewer. One that refuses even this has another reason, such as a quota of the month, and asking
 * more slowly would not help.
 */
const MIN_PER_S = 20;
/** A halved rate has doubled again after this long. */
const RECOVERY_S = 3;

export function createTokenBucket(clock: Clock, maxPerS: number): TokenBucket {
  let ratePerS = maxPerS;
  let tokens = maxPerS * BURST_S;
  let lastMs = clock.nowMs();
  const minPerS = Math.min(MIN_PER_S, maxPerS);
  /** What was sent in this second and in the one before, since the provider last objected. */
  let sent = { sinceMs: lastMs, calls: 0, callsBefore: 0 };

  function refill(): void {
    const nowMs = clock.nowMs();
    // A clock that was set back gives nothing, and takes nothing.
    const passedS = Math.max(0, nowMs - lastMs) / 1000;
    lastMs = nowMs;
    ratePerS = Math.min(maxPerS, ratePerS * 2 ** (passedS / RECOVERY_S));
    tokens = Math.min(ratePerS * BURST_S, tokens + passedS * ratePerS);
  }

  return {
    waitMs: () => {
      refill();
      return tokens > 0 ? 0 : Math.ceil((1 - tokens) * (1000 / ratePerS));
    },
    take: (calls) => {
      refill();
      tokens -= calls;
      const agoMs = Math.abs(lastMs - sent.sinceMs);
      if (agoMs >= 1000) sent = { sinceMs: lastMs, calls: 0, callsBefore: agoMs < 2000 ? sent.calls : 0 };
      sent.calls += calls;
    },
    slowDown: () => {
      refill();
      tokens = Math.min(tokens, 0);
      const sentPerS = Math.max(sent.calls, sent.callsBefore);
      // It was not the rate: the request was a lone one after a pause, or one of many that were refused in this moment.
      if (sentPerS <= minPerS) return;
      ratePerS = Math.max(minPerS, Math.min(ratePerS, sentPerS) / 2);
      sent = { sinceMs: lastMs, calls: 0, callsBefore: 0 };
    },
  };
}
