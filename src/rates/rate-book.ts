import {
  compare,
  inverse,
  median,
  multiply,
  type Pair,
  parsePrice,
  type Rate,
  type Ratio,
  type Reading,
  ratio,
} from '../domain/rate.ts';
import { agreeing } from './agreement.ts';
import type { Rates, SourceKind } from './rates.ts';

export interface RateRules {
  /** The largest permitted distance of a source's price from the median of the other sources. */
  readonly maxDeviationBasisPoints: number;
  /** How long rates are remembered: a quote is valid for up to five minutes, and its rate may be a minute old. */
  readonly rememberedMs: number;
}

/** The last reading of every source, and the rates computed from the readings. */
export interface RateBook extends Rates {
  /** Stores a reading. Returns false if its price is not valid: the source's last price then stays in force until it is too old. */
  note(reading: Reading, terms: ReadingTerms): boolean;
  /** The fresh readings of a pair in either direction, even if they disagree, and the rate in which some of them agree. */
  opinionsOf(pair: Pair, nowMs: number): { readonly readings: readonly Reading[]; readonly rate: Rate | undefined };
  /** The pairs from whose rates the rate of this pair is computed: the pair itself, the two pairs of a cross rate, or none. */
  legsOf(pair: Pair): readonly Pair[];
}

export interface ReadingTerms {
  readonly kind: SourceKind;
  /** How long the reading is fresh. */
  readonly validMs: number;
}

interface Range {
  readonly low: Ratio;
  readonly high: Ratio;
}

interface Noted {
  readonly reading: Reading;
  readonly terms: ReadingTerms;
  /** The price in the direction of `keyOf`, which is the same for ETH/USD and USD/ETH. */
  readonly value: Ratio;
}

/** The value on which the sources of a pair agree from `fromMs` until `untilMs`, in the direction of the pair's key. */
interface Agreement {
  readonly fromMs: number;
  readonly untilMs: number;
  /** The agreed value. Undefined if the sources do not agree. */
  readonly value: Ratio | undefined;
  readonly readings: readonly Reading[];
}

const PARTS = 10_000n;
const isLive = ({ terms }: Noted) => terms.kind === 'live';

/** The currencies of cross rates, for pairs without sources: ETH/EUR is computed from ETH/USD and USD/EUR. */
const CROSSINGS = ['USD', 'EUR'] as const;

export function createRateBook(pairs: readonly Pair[], rules: RateRules): RateBook {
  const { maxDeviationBasisPoints, rememberedMs } = rules;
  /** The last readings, by pair and then by source: each source has one vote. */
  const noted = new Map<string, Map<string, Noted>>(pairs.map((pair) => [keyOf(pair), new Map()]));

  /** The past rates, by pair: the rate in force at each reading, in the direction of the pair's key. */
  const remembered = new Map<string, { readonly atMs: number; readonly value: Ratio }[]>();

  function remember(pair: Pair, atMs: number): void {
    const rate = direct(pair, atMs);
    const past = (remembered.get(keyOf(pair)) ?? []).filter((one) => Math.abs(atMs - one.atMs) <= rememberedMs);
    if (rate !== undefined) past.push({ atMs, value: inKeyDirection(pair, rate.value) });
    remembered.set(keyOf(pair), past);
  }

  /** The range of the remembered rates and the present one, widened by the permitted deviation of sources. */
  function rangeOf(pair: Pair, nowMs: number): Range | undefined {
    const past = (remembered.get(keyOf(pair)) ?? []).filter(({ atMs }) => Math.abs(nowMs - atMs) <= rememberedMs);
    const present = direct(pair, nowMs);
    const values = [...past.map(({ value }) => inKeyDirection(pair, value)), ...(present ? [present.value] : [])];
    const sorted = values.toSorted(compare);
    const [low, high] = [sorted.at(0), sorted.at(-1)];
    if (low === undefined || high === undefined) return undefined;
    const widening = ratio(PARTS + BigInt(maxDeviationBasisPoints), PARTS);
    return { low: multiply(low, inverse(widening)), high: multiply(high, widening) };
  }

  function crossedRanges({ base, quote }: Pair, nowMs: number): readonly Range[] {
    return CROSSINGS.flatMap((middle) => {
      const first = rangeOf({ base, quote: middle }, nowMs);
      const second = rangeOf({ base: middle, quote }, nowMs);
      if (first === undefined || second === undefined) return [];
      return [{ low: multiply(first.low, second.low), high: multiply(first.high, second.high) }];
    });
  }

  function fresh(pair: Pair, nowMs: number): readonly Noted[] {
    // A reading whose time is in the future was made before the clock was set back. Its age is unknown, so it counts only if its
    // time is close to now.
    return [...(noted.get(keyOf(pair))?.values() ?? [])].filter(
      ({ reading, terms }) => Math.abs(nowMs - reading.atMs) <= terms.validMs,
    );
  }

  /** The last agreement of the sources, by pair. It changes with a new reading, and when a reading becomes too old. */
  const agreements = new Map<string, Agreement>();

  function agreementOf(pair: Pair, nowMs: number): Agreement {
    const last = agreements.get(keyOf(pair));
    if (last !== undefined && last.fromMs <= nowMs && nowMs <= last.untilMs) return last;
    const opinions = fresh(pair, nowMs);
    const live = opinions.filter(isLive);
    // Reference rates are of yesterday or of Friday. They can confirm a single live price. Several live prices are judged without them.
    const agreed = agreeing(live.length === 1 ? opinions : live, maxDeviationBasisPoints);
    const isRate = agreed.some(isLive);
    const changes = [...(noted.get(keyOf(pair))?.values() ?? [])].flatMap(
      ({ reading: { atMs }, terms: { validMs } }) => [atMs - validMs - 1, atMs + validMs],
    );
    const agreement = {
      fromMs: nowMs,
      untilMs: Math.min(...changes.filter((change) => change >= nowMs)),
      value: isRate ? median(agreed.map((one) => one.value)) : undefined,
      readings: isRate ? agreed.map(({ reading }) => reading) : [],
    };
    agreements.set(keyOf(pair), agreement);
    return agreement;
  }

  function direct(pair: Pair, nowMs: number): Rate | undefined {
    const { value, readings } = agreementOf(pair, nowMs);
    if (value === undefined) return undefined;
    return { base: pair.base, quote: pair.quote, value: inKeyDirection(pair, value), readings };
  }

  function crossed({ base, quote }: Pair, nowMs: number): Rate | undefined {
    for (const middle of CROSSINGS) {
      const first = direct({ base, quote: middle }, nowMs);
      const second = direct({ base: middle, quote }, nowMs);
      if (first === undefined || second === undefined) continue;
      return {
        base,
        quote,
        value: multiply(first.value, second.value),
        readings: [...first.readings, ...second.readings],
      };
    }
    return undefined;
  }

  const isFollowed = (base: string, quote: string) => noted.has(keyOf({ base, quote }));

  function legsOf({ base, quote }: Pair): readonly Pair[] {
    if (base === quote) return [];
    if (isFollowed(base, quote)) return [{ base, quote }];
    const middle = CROSSINGS.find((between) => isFollowed(base, between) && isFollowed(between, quote));
    return middle === undefined
      ? []
      : [
          { base, quote: middle },
          { base: middle, quote },
        ];
  }

  return {
    covers: (base, quote) => legsOf({ base, quote }).length > 0,
    legsOf,
    rateOf(base, quote, nowMs) {
      const pair = { base, quote };
      // A symbol has no rate to itself: two assets may share the symbol.
      if (base === quote) return undefined;
      // A pair with sources never gets a cross rate, which would hide that its sources disagree.
      return noted.has(keyOf(pair)) ? direct(pair, nowMs) : crossed(pair, nowMs);
    },
    wasInForce({ base, quote, value }, nowMs) {
      const pair = { base, quote };
      if (base === quote) return false;
      const own = noted.has(keyOf(pair)) ? [rangeOf(pair, nowMs)] : crossedRanges(pair, nowMs);
      return own.some((range) => range && compare(range.low, value) <= 0 && compare(value, range.high) <= 0);
    },
    note(reading, terms) {
      const price = parsePrice(reading.price);
      if (price === undefined) return false;
      agreements.delete(keyOf(reading));
      noted.get(keyOf(reading))?.set(reading.source, { reading, terms, value: inKeyDirection(reading, price) });
      remember(reading, reading.atMs);
      return true;
    },
    opinionsOf: (pair, nowMs) => ({
      readings: fresh(pair, nowMs).map(({ reading }) => reading),
      rate: direct(pair, nowMs),
    }),
  };
}

/** The key of a pair. It is the same for both directions of the pair. */
export function keyOf(pair: Pair): string {
  return isForward(pair) ? `${pair.base}/${pair.quote}` : `${pair.quote}/${pair.base}`;
}

/** Converts between the direction of the pair and the direction of its key. */
export function inKeyDirection(pair: Pair, value: Ratio): Ratio {
  return isForward(pair) ? value : inverse(value);
}

function isForward({ base, quote }: Pair): boolean {
  return base < quote;
}
