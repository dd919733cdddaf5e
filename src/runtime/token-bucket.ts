/**
 * A token bucket, which holds at most `capacity` tokens, by default those of one second. It is a plain record, because a node keeps
 * one for every caller.
 */
export interface TokenBucket {
  perSecond: number;
  /** The tokens in the bucket. Below zero after a batch that took more tokens than there were. */
  tokens: number;
  filledAtMs: number;
  readonly capacity?: number;
}

export function fullBucket(perSecond: number, nowMs: number): TokenBucket {
  return { perSecond, tokens: perSecond, filledAtMs: nowMs };
}

/** Adds the tokens since the last call. If the clock was set back, the number of tokens stays the same. */
export function refill(bucket: TokenBucket, nowMs: number): void {
  const grown = (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * bucket.perSecond;
  bucket.tokens = Math.min(bucket.capacity ?? bucket.perSecond, bucket.tokens + grown);
  bucket.filledAtMs = nowMs;
}

/** Milliseconds until there is one token; 0 if there is any part of a token. */
export function waitMs({ tokens, perSecond }: TokenBucket): number {
  return tokens > 0 ? 0 : Math.ceil((1 - tokens) * (1000 / perSecond));
}
