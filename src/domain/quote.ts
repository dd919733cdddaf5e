import { fiatCodeOf } from './currency.ts';
import { inverse, multiply, type Pair, type Rate, type Ratio, ratio, recordRate } from './rate.ts';

/**
 * What a price comes to in a token. Amounts are rounded up and fees down, so the merchant never gets less than the price
 * less the fee, to the unit; and because a fee is at most the price, what it comes to is at most the amount.
 */
export interface Quote {
  /** What the payer pays, in the smallest unit of the asset. */
  readonly amount: bigint;
  /** Smallest units of the asset for one smallest unit of the price. */
  readonly factor: Ratio;
  /** Whether a rate was needed: then the quote holds for a short time only. */
  readonly isRateBound: boolean;
  /** That rate with its sources and their times, as plain JSON to be stored with the item. */
  readonly record: ReturnType<typeof recordRate> | null;
}

export interface Price {
  /** `iso4217/USD`, or `caip19/` and an asset id in canonical spelling. */
  readonly unit: string;
  readonly value: bigint;
  readonly decimals: number;
}

export interface QuotedAsset {
  /** CAIP-19, in canonical spelling. */
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly peg?: string;
}

export interface QuoteInput {
  readonly price: Price;
  readonly asset: QuotedAsset;
  /** Of the pair that `ratePairOf` names; undefined when there is none now. */
  readonly rate: Rate | undefined;
}

/** Undefined when the price cannot be paid with this asset, or not without a rate that is missing. There is no default. */
export function quoteFor({ price, asset, rate }: QuoteInput): Quote | undefined {
  const currency = fiatCodeOf(price.unit);
  if (currency === undefined) return price.unit === `caip19/${asset.id}` ? quoteAt(price, AS_IT_IS) : undefined;

  const pair = ratePairOf(price, asset);
  const scale = ratio(10n ** BigInt(asset.decimals), 10n ** BigInt(price.decimals));
  if (pair === undefined) return quoteAt(price, scale);
  if (rate === undefined) return undefined;
  if (rate.base !== pair.base || rate.quote !== pair.quote) {
    throw new Error(`A quote in ${pair.base}/${pair.quote} was given the rate of ${rate.base}/${rate.quote}.`);
  }
  return quoteAt(price, multiply(scale, inverse(rate.value)), rate);
}

/** The rate that a quote needs; undefined when it needs none. */
export function ratePairOf({ unit }: Pick<Price, 'unit'>, asset: QuotedAsset): Pair | undefined {
  const currency = fiatCodeOf(unit);
  if (currency === undefined || currency === asset.peg) return undefined;
  return { base: asset.peg ?? UNWRAPPED[asset.symbol] ?? asset.symbol, quote: currency };
}

/** What a fee, counted in the unit of the price, comes to in the token. */
export function feeInToken(quote: Quote, fee: bigint): bigint {
  const converted = convertRoundedDown(fee, quote.factor);
  return converted < quote.amount ? converted : quote.amount;
}

/** The contracts of these tokens give one coin for one token at any time, and exchanges quote the coin. */
const UNWRAPPED: Readonly<Record<string, string>> = { WETH: 'ETH', WPOL: 'POL' };

const AS_IT_IS: Ratio = { numerator: 1n, denominator: 1n };
/** What a token contract can count to. */
const MAX_UNITS = 2n ** 256n - 1n;

function quoteAt({ value }: Price, factor: Ratio, rate?: Rate): Quote | undefined {
  const amount = convertRoundedUp(value, factor);
  if (amount > MAX_UNITS) return undefined;
  return { amount, factor, isRateBound: rate !== undefined, record: rate === undefined ? null : recordRate(rate) };
}

/** These two are the only places where money is rounded between units. */
export function convertRoundedUp(value: bigint, { numerator, denominator }: Ratio): bigint {
  return (value * numerator + denominator - 1n) / denominator;
}

export function convertRoundedDown(value: bigint, { numerator, denominator }: Ratio): bigint {
  return (value * numerator) / denominator;
}
