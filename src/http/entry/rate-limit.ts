import { ApiError } from '../../errors.ts';
import { refill, type TokenBucket } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';

/**
 * A token bucket per caller, in this node's memory. A bucket holds the tokens of `windowS` and fills steadily. Limits are per
 * node on purpose: a shared counter would add a round trip to every request.
 */
export interface RateLimit {
  /**
   * Takes the given number of tokens, one by default. Throws `rate_limited` if there are fewer. The headers show the remaining
   * tokens once half of them are used.
   */
  take(answer: { header(name: string, value: string): unknown }, caller: string, tokens?: number): void;
}

export interface RateLimitInput {
  /** The name of the policy in the headers. */
  readonly name: string;
  readonly perSecond: number;
  /** The bucket holds the tokens of this many seconds. Default: 1. */
  readonly windowS?: number;
  /** The name of a token in the refusal. Default: `requests`. */
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
    // A full map drops its oldest bucket, so that a flood of new addresses does not grow the memory without bound.
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
      // A bucket never holds more than its capacity, so a larger price costs a full bucket.
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
 * The name under which a client address is counted. IPv6 clients own a whole /64, so requests are counted per /64. The address is
 * undefined if the client has reset the connection, despite the type of `request.ip`. All such connections share one bucket.
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
