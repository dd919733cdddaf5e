/**
 * An allowance that fills steadily and holds one second's worth, or its capacity. A plain record, because a node keeps one for every
 * caller it has met.
 */
export interface TokenBucket {
  perSecond: number;
  /** Below zero after a batch that took more than there was. */
  tokens: number;
  filledAtMs: number;
  readonly capacity?: number;
}

export function fullBucket(perSecond: number, nowMs: number): TokenBucket {
  return { perSecond, tokens: perSecond, filledAtMs: nowMs };
}

/** Adds the tokens that have grown since the last call. A clock that was set back adds nothing, and takes nothing. */
export function refill(bucket: TokenBucket, nowMs: number): void {
  const grown = (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * bucket.perSecond;
  bucket.tokens = Math.min(bucket.capacity ?? bucket.perSecond, bucket.tokens + grown);
  bucket.filledAtMs = nowMs;
}

/** Milliseconds until one token is there; 0 while any part of one is. */
export function waitMs({ tokens, perSecond }: TokenBucket): number {
  return tokens > 0 ? 0 : Math.ceil((1 - tokens) * (1000 / perSecond));
}
