import {
  inverse,
  median,
  multiply,
  type Pair,
  parsePrice,
  type Rate,
  type Ratio,
  type Reading,
} from '../domain/rate.ts';
import { agreeing } from './agreement.ts';
import type { Rates } from './rates.ts';

export interface RateRules {
  /** The maximum age of a reading. */
  readonly maxAgeMs: number;
  /** The largest distance of a source from the median of the others. */
  readonly maxDeviationBasisPoints: number;
}

/** The last reading of every source, and the rates that follow from them. */
export interface RateBook extends Rates {
  /** Returns true if the reading was a price. Otherwise the last price stays until it is too old. */
  note(reading: Reading): boolean;
  /** The fresh readings of a pair, in either direction, agreeing or not. */
  freshReadings(pair: Pair, nowMs: number): readonly Reading[];
}

interface Noted {
  readonly reading: Reading;
  /** In the direction of the pair's key. */
  readonly value: Ratio;
}

/** The currencies for cross rates of pairs without sources: ETH/EUR as ETH/USD and USD/EUR. */
const CROSSINGS = ['USD', 'EUR'] as const;

export function createRateBook(pairs: readonly Pair[], rules: RateRules): RateBook {
  const { maxAgeMs, maxDeviationBasisPoints } = rules;
  /** By pair and then by source: a source has one vote. */
  const noted = new Map<string, Map<string, Noted>>(pairs.map((pair) => [keyOf(pair), new Map()]));

  function fresh(pair: Pair, nowMs: number): readonly Noted[] {
    // A reading from the future was made before the clock was set back: its age is unknown.
    return [...(noted.get(keyOf(pair))?.values() ?? [])].filter(
      ({ reading }) => Math.abs(nowMs - reading.atMs) <= maxAgeMs,
    );
  }

  function direct(pair: Pair, nowMs: number): Rate | undefined {
    const agreed = agreeing(fresh(pair, nowMs), maxDeviationBasisPoints);
    if (agreed.length === 0) return undefined;
    const value = median(agreed.map((one) => one.value));
    return {
      base: pair.base,
      quote: pair.quote,
      value: inKeyDirection(pair, value),
      readings: agreed.map(({ reading }) => reading),
    };
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

  return {
    covers: (base, quote) =>
      base !== quote &&
      (isFollowed(base, quote) || CROSSINGS.some((middle) => isFollowed(base, middle) && isFollowed(middle, quote))),
    rateOf(base, quote, nowMs) {
      const pair = { base, quote };
      // A rate of a symbol to itself is refused: two assets share the name.
      if (base === quote) return undefined;
      // A pair with sources is never crossed: a cross rate would only hide their disagreement.
      return noted.has(keyOf(pair)) ? direct(pair, nowMs) : crossed(pair, nowMs);
    },
    note(reading) {
      const price = parsePrice(reading.price);
      if (price === undefined) return false;
      noted.get(keyOf(reading))?.set(reading.source, { reading, value: inKeyDirection(reading, price) });
      return true;
    },
    freshReadings: (pair, nowMs) => fresh(pair, nowMs).map(({ reading }) => reading),
  };
}

/** Both directions of a pair are one pair. */
export function keyOf(pair: Pair): string {
  return isForward(pair) ? `${pair.base}/${pair.quote}` : `${pair.quote}/${pair.base}`;
}

/** Turns a value of the pair into one of its key, or back. */
function inKeyDirection(pair: Pair, value: Ratio): Ratio {
  return isForward(pair) ? value : inverse(value);
}

function isForward({ base, quote }: Pair): boolean {
  return base < quote;
}
