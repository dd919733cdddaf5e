import { ApiError } from '../../errors.ts';
import { refill, type TokenBucket } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * A token bucket per caller, in this node's memory: a bucket holds one second's worth and fills steadily. Limits are
 * per node on purpose: a shared counter would put a round trip into every request.
 */
export interface RateLimit {
  /**
   * Takes one token, or as many as given; throws `rate_limited` when there are fewer. The headers show the remaining tokens once half of them
   * are gone.
   */
  take(answer: { header(name: string, value: string): unknown }, caller: string, tokens?: number): void;
}

export interface RateLimitInput {
  /** The name of the policy in the headers. */
  readonly name: string;
  readonly perSecond: number;
  /** The bucket holds the tokens of this many seconds, one by default. */
  readonly windowS?: number;
  /** The name of a token in the refusal. */
  readonly what?: string;
  readonly onRefusal: () => void;
}

const MAX_BUCKETS = 100_000;

export function createRateLimit(clock: Clock, input: RateLimitInput): RateLimit {
  const { name, perSecond, windowS = 1, what = 'requests', onRefusal } = input;
  const buckets = new Map<string, TokenBucket>();
  const capacity = perSecond * windowS;
  const policy = `"${name}";q=${capacity};w=${windowS}`;

  function bucketOf(caller: string, nowMs: number): TokenBucket {
    const known = buckets.get(caller);
    if (known !== undefined) return known;
    // A full table drops its oldest bucket: a flood of new addresses must not grow the memory without end.
    if (buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value ?? '');
    const fresh = { perSecond, tokens: capacity, filledAtMs: nowMs, capacity };
    buckets.set(caller, fresh);
    return fresh;
  }

  return {
    take(answer, caller, tokens = 1) {
      const nowMs = clock.nowMs();
      const bucket = bucketOf(caller, nowMs);
      refill(bucket, nowMs);
      // More than a full bucket cannot be saved up: it takes a full one.
      const price = Math.min(tokens, capacity);
      const isAllowed = bucket.tokens >= price;
      if (isAllowed) bucket.tokens -= price;
      if (bucket.tokens <= capacity / 2) {
        answer.header('RateLimit-Policy', policy);
        answer.header('RateLimit', `"${name}";r=${Math.floor(bucket.tokens)};t=${windowS}`);
      }
      if (isAllowed) return;
      onRefusal();
      const retryAfterS = Math.max(1, Math.ceil((price - bucket.tokens) / perSecond));
      const later = retryAfterS === 1 ? 'a second' : `${retryAfterS} seconds`;
      throw new ApiError('rate_limited', `More than ${perSecond} ${what} a second. Try again in ${later}.`, {
        retryAfterS,
      });
    },
  };
}

/**
 * IPv6 clients own a whole /64, so the /64 is counted. A connection that its client has reset has no address any more,
 * despite the type of `request.ip`: all such connections share one bucket.
 */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return 'reset';
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
