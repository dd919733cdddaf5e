import { formatDecimal } from './money.ts';

/** Exchange rates are fractions of integers: crossing or turning one round loses nothing, and nothing rounds on the way. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** What one of `base` costs in `quote`: symbols of coins, codes of currencies. */
export interface Pair {
  readonly base: string;
  readonly quote: string;
}

export interface Rate extends Pair {
  readonly value: Ratio;
  /** What it was made of. */
  readonly readings: readonly Reading[];
}

/** What one source said. */
export interface Reading extends Pair {
  readonly source: string;
  /** As the source spelled it. */
  readonly price: string;
  readonly atMs: number;
}

/** As many digits as any price has. The bound keeps what a stranger sends cheap to reckon with, and records short. */
const PRICE_FORM = /^(0|[1-9][0-9]{0,14})(\.([0-9]{1,20}))?$/;

/** Reads a price above zero: plain decimal digits, no sign, no exponent, no leading zeros. */
export function parsePrice(text: string): Ratio | undefined {
  const match = PRICE_FORM.exec(text);
  if (match === null) return undefined;
  const [, whole = '', , fraction = ''] = match;
  const numerator = BigInt(whole + fraction);
  return numerator === 0n ? undefined : ratio(numerator, 10n ** BigInt(fraction.length));
}

/** In lowest terms, so that one value has one spelling. Both parts are above zero. */
export function ratio(numerator: bigint, denominator: bigint): Ratio {
  const divisor = greatestCommonDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

export function inverse({ numerator, denominator }: Ratio): Ratio {
  return { numerator: denominator, denominator: numerator };
}

export function multiply(a: Ratio, b: Ratio): Ratio {
  return ratio(a.numerator * b.numerator, a.denominator * b.denominator);
}

/** Negative when the first is smaller, as a sort wants it. */
export function compare(a: Ratio, b: Ratio): number {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The middle one, or what lies halfway between the two in the middle. Of at least one value. */
export function median(values: readonly Ratio[]): Ratio {
  const sorted = values.toSorted(compare);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error('There is no median of nothing.');
  return ratio(
    low.numerator * high.denominator + high.numerator * low.denominator,
    2n * low.denominator * high.denominator,
  );
}

/** The rate as plain JSON, for the record. It is part of an option's id until there is an item, so it is kept short. */
export function recordRate({ base, quote, value, readings }: Rate) {
  return {
    pair: `${base}/${quote}`,
    ratio: `${value.numerator}/${value.denominator}`,
    readings: readings.map((reading) => ({
      source: reading.source,
      pair: `${reading.base}/${reading.quote}`,
      price: reading.price,
      atS: Math.floor(reading.atMs / 1000),
    })),
  };
}

/** Enough to reckon with, and no more than a person reads. */
const DIGITS = 8;

/** The ratio as a plain decimal, rounded to eight digits that count: for people to read, never to convert with. */
export function decimalOf({ numerator, denominator }: Ratio): string {
  const wholeDigits =
    numerator < denominator ? 1 - digitsOf(denominator / numerator) : digitsOf(numerator / denominator);
  const decimals = Math.max(0, DIGITS - wholeDigits);
  const doubled = (2n * numerator * 10n ** BigInt(decimals) + denominator) / denominator;
  return formatDecimal({ units: doubled / 2n, decimals });
}

function digitsOf(value: bigint): number {
  return value.toString().length;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
