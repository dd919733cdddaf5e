import { formatDecimal, parseDecimal } from './money.ts';

/** An exchange rate as a fraction of integers, so that multiplying and inverting it loses nothing. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The price of one `base` in `quote`. Both are symbols of coins or codes of currencies. */
export interface Pair {
  readonly base: string;
  readonly quote: string;
}

export interface QuotedRate extends Pair {
  readonly value: Ratio;
}

export interface Rate extends QuotedRate {
  readonly readings: readonly Reading[];
}

export interface Reading extends Pair {
  readonly source: string;
  /** The price as the source spelled it. */
  readonly price: string;
  readonly atMs: number;
}

/**
 * The form of a price. It allows more digits than any price has. The bound keeps arithmetic on input of third parties cheap, and
 * records short.
 */
const PRICE_FORM = /^(0|[1-9][0-9]{0,14})(\.[0-9]{1,20})?$/;

/** Reads a price above zero: plain decimal digits, no sign, no exponent, no leading zeros. */
export function parsePrice(text: string): Ratio | undefined {
  const price = PRICE_FORM.test(text) ? parseDecimal(text) : undefined;
  return price === undefined || price.units === 0n ? undefined : ratio(price.units, 10n ** BigInt(price.decimals));
}

/** A ratio in lowest terms, so that equal values have one spelling. Both parts are above zero. */
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

/** Compares two ratios for `sort`: negative if the first is smaller. */
export function compare(a: Ratio, b: Ratio): number {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The median: the middle value, or the mean of the two middle values. Needs at least one value. */
export function median(values: readonly Ratio[]): Ratio {
  const sorted = values.toSorted(compare);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error('There is no median of nothing.');
  return ratio(
    low.numerator * high.denominator + high.numerator * low.denominator,
    2n * low.denominator * high.denominator,
  );
}

/** The exchange rate as plain JSON, for storage. It is short, because an option's id contains it until the payer confirms the option. */
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

/** Reads a rate from the JSON of `recordRate`. Undefined if the record is not one of a rate. */
export function readRateRecord(record: Readonly<Record<string, unknown>> | null): QuotedRate | undefined {
  const [, base, quote] = PAIR_FORM.exec(String(record?.pair)) ?? [];
  const [, numerator, denominator] = RATIO_FORM.exec(String(record?.ratio)) ?? [];
  if (base === undefined || quote === undefined || numerator === undefined || denominator === undefined)
    return undefined;
  return { base, quote, value: { numerator: BigInt(numerator), denominator: BigInt(denominator) } };
}

const PAIR_FORM = /^([^/]+)\/([^/]+)$/;
const RATIO_FORM = /^([1-9][0-9]{0,199})\/([1-9][0-9]{0,199})$/;

/** The number of significant digits of a rate that is shown to people. */
const DIGITS = 8;

/** The ratio as a plain decimal, rounded to some significant digits. Conversion uses exact ratios. */
export function decimalOf({ numerator, denominator }: Ratio, digits = DIGITS): string {
  const wholeDigits =
    numerator < denominator ? 1 - digitsOf(denominator / numerator) : digitsOf(numerator / denominator);
  const decimals = Math.max(0, digits - wholeDigits);
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
