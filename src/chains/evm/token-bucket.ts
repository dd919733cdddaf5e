import type { Clock } from '../../deps.ts';

/**
 * How many calls a provider takes in a second. The rate is what the operator set until the provider objects; then it is half
 * of what was too much, and grows back slowly.
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
const MIN_PER_S = 1;
/** A halved rate has doubled again after this long. */
const RECOVERY_S = 60;

export function createTokenBucket(clock: Clock, maxPerS: number): TokenBucket {
  let ratePerS = maxPerS;
  let tokens = maxPerS * BURST_S;
  let lastMs = clock.nowMs();
  let second = { startMs: lastMs, calls: 0, callsBefore: 0 };

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
      const isSameSecond = Math.abs(lastMs - second.startMs) < 1000;
      if (!isSameSecond) second = { startMs: lastMs, calls: 0, callsBefore: second.calls };
      second.calls += calls;
    },
    slowDown: () => {
      refill();
      const sentPerS = Math.max(second.calls, second.callsBefore);
      ratePerS = Math.max(MIN_PER_S, Math.min(ratePerS, sentPerS) / 2);
      tokens = Math.min(tokens, 0);
    },
  };
}
