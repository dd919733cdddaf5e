import { decimalOf, inverse, multiply, type Pair, parsePrice, type Ratio } from '../domain/rate.ts';
import type { Clock, Timers } from '../runtime/world.ts';
import { fetchAnswer } from './fetch-answer.ts';
import { type Json, parseJson } from './json.ts';
import { LIVE, type PairAnswer, type RateSource, type SourceRequest, type SourceTerms } from './rates.ts';

/** A rate source that is built into Till. It answers everybody without an API key. */
export interface PublicSource extends SourceTerms {
  /** The name of the source. It is stored with every quote that uses the source. */
  readonly name: string;
  /** A description of the source, for its row in the documentation. */
  readonly about: string;
  /** The greatest age of a price, counted from the time that the source states for it. */
  readonly statedWithinMs: number;
  /** The symbols that the source has, each priced in dollars. */
  readonly symbols: readonly string[];
  /** Returns the requests for some of the source's symbols. */
  readonly requestsFor: (symbols: readonly string[]) => readonly PublicRequest[];
}

export interface PublicRequest {
  readonly url: string;
  readonly prices: readonly PublicPrice[];
}

export interface PublicPrice extends Pair {
  readonly find: (answer: Json) => Found;
}

export interface Found {
  /** The price as text. Undefined if the answer has no price where it is expected. */
  readonly price: string | undefined;
  /** The time that the source states for the price: null if the source states none, `NaN` if this answer lacks it. */
  readonly statedAtMs: number | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The terms of markets. A market may state the time of its last trade, which can be minutes ago. */
export const MARKET = { ...LIVE, statedWithinMs: 5 * MINUTE_MS } as const;
/**
 * The terms of central banks. Around Christmas and Easter no rate is published for six days. A reference rate counts only with a live
 * price that agrees with it, so its age does no harm.
 */
export const CENTRAL_BANK = {
  kind: 'reference',
  everyMs: 15 * MINUTE_MS,
  validMs: 60 * MINUTE_MS,
  statedWithinMs: 7 * DAY_MS,
} as const;

/**
 * How far ahead of our clock the stated time of a price may be. Beyond this the price is refused: the source's clock or ours is
 * wrong.
 */
const AHEAD_MS = 5 * MINUTE_MS;

interface Deps {
  readonly timers: Timers;
  /** The real clock, even in a sandbox whose own clock was moved forward. */
  readonly clock: Clock;
}

/** Creates a source that answers for the given symbols. Undefined if it has none of them. */
export function createPublicSource(
  deps: Deps,
  source: PublicSource,
  symbols: readonly string[],
): RateSource | undefined {
  const { kind, everyMs, validMs, name } = source;
  const requests = source.requestsFor(source.symbols.filter((symbol) => symbols.includes(symbol)));
  if (requests.length === 0) return undefined;
  return { kind, everyMs, validMs, name, requests: requests.map((request) => requestOf(deps, source, request)) };
}

function requestOf({ timers, clock }: Deps, source: PublicSource, { url, prices }: PublicRequest): SourceRequest {
  return {
    pairs: prices.map(({ base, quote }) => ({ base, quote })),
    async read(signal) {
      const answer = parseJson(await fetchAnswer(timers, url, signal));
      const nowMs = clock.nowMs();
      return prices.map((price) => answerOf(source, price, answer, nowMs));
    },
  };
}

function answerOf(
  { statedWithinMs }: PublicSource,
  { base, quote, find }: PublicPrice,
  answer: Json,
  nowMs: number,
): PairAnswer {
  const { price, statedAtMs } = find(answer);
  const fault = (text: string) => ({ base, quote, fault: text });
  if (price === undefined) return fault('sent no price at the place it should stand');
  if (statedAtMs === null) return { base, quote, price };
  if (!isTime(statedAtMs)) return fault('does not say from when its price is');
  const stated = new Date(statedAtMs).toISOString();
  if (nowMs - statedAtMs > statedWithinMs) return fault(`sent a price of ${stated}, which is too old`);
  if (statedAtMs - nowMs > AHEAD_MS) return fault(`sent a price of ${stated}, which is in the future`);
  return { base, quote, price, statedAtMs };
}

/** The price of one `symbol` in dollars. */
export const inDollars = (symbol: string, find: PublicPrice['find']): PublicPrice => ({
  base: symbol,
  quote: 'USD',
  find,
});

/** The price of one dollar in `symbol`. */
export const ofDollar = (symbol: string, find: PublicPrice['find']): PublicPrice => ({
  base: 'USD',
  quote: symbol,
  find,
});

/** The last time of a year with four digits. */
const LAST_TIME_MS = Date.UTC(9999, 11, 31);
const isTime = (ms: number) => ms >= 0 && ms <= LAST_TIME_MS;

/** Parses a time: seconds or milliseconds since 1970, as JSON spells the number. `NaN` if the text is no such number. */
export function timeOf(text: string | undefined, unitMs: 1 | 1_000): number {
  return text !== undefined && /^[0-9]{9,14}$/.test(text) ? Number(text) * unitMs : Number.NaN;
}

/** Parses a day such as `2026-03-02` to the time of its beginning in UTC. `NaN` if the text is no day. */
export function dayOf(text: string | undefined): number {
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** The digits of a crossed price. They are enough to keep the rounding far below the deviation between sources. */
const CROSSED_DIGITS = 12;

/** The price of A in B, computed from two prices of one answer: A in X, and B in X. Undefined if one of the two is missing. */
export function crossed(price: Ratio | undefined, other: Ratio | undefined): string | undefined {
  if (price === undefined || other === undefined) return undefined;
  return decimalOf(multiply(price, inverse(other)), CROSSED_DIGITS);
}

export function priceAt(text: string | undefined): Ratio | undefined {
  return text === undefined ? undefined : parsePrice(text);
}
