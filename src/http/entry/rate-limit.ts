import { ApiError } from '../../errors.ts';
import { fullBucket, refill, type TokenBucket } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * A token bucket per caller, in this node's memory: a bucket holds one second's worth and fills steadily. Limits are
 * per node on purpose: a shared counter would put a round trip into every request.
 */
export interface RateLimit {
  /**
   * Takes one token; throws `rate_limited` when there is none. The headers show the remaining tokens once half of them
   * are gone.
   */
  take(answer: { header(name: string, value: string): unknown }, caller: string): void;
}

export interface RateLimitInput {
  /** The name of the policy in the headers. */
  readonly name: string;
  readonly perSecond: number;
  readonly onRefusal: () => void;
}

const MAX_BUCKETS = 100_000;

export function createRateLimit(clock: Clock, { name, perSecond, onRefusal }: RateLimitInput): RateLimit {
  const buckets = new Map<string, TokenBucket>();
  const policy = `"${name}";q=${perSecond};w=1`;

  function bucketOf(caller: string, nowMs: number): TokenBucket {
    const known = buckets.get(caller);
    if (known !== undefined) return known;
    // A full table drops its oldest bucket: a flood of new addresses must not grow the memory without end.
    if (buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value ?? '');
    const fresh = fullBucket(perSecond, nowMs);
    buckets.set(caller, fresh);
    return fresh;
  }

  return {
    take(answer, caller) {
      const nowMs = clock.nowMs();
      const bucket = bucketOf(caller, nowMs);
      refill(bucket, nowMs);
      const isAllowed = bucket.tokens >= 1;
      if (isAllowed) bucket.tokens -= 1;
      if (bucket.tokens <= perSecond / 2) {
        answer.header('RateLimit-Policy', policy);
        answer.header('RateLimit', `"${name}";r=${Math.floor(bucket.tokens)};t=1`);
      }
      if (isAllowed) return;
      onRefusal();
      throw new ApiError('rate_limited', `More than ${perSecond} requests a second. Try again in a second.`, {
        retryAfterS: 1,
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
