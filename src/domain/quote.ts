import { fiatCodeOf } from './currency.ts';
import { inverse, multiply, type Pair, type Rate, type Ratio, ratio } from './rate.ts';

/**
 * A price converted to a token. The amount is rounded up to the token's quote decimals, and the fee down to the token's smallest
 * unit. So the merchant never gets less than the price minus the fee. A fee is at most the price, so the fee in the token is at
 * most the amount.
 */
export interface Quote {
  /** The amount the payer pays, in the smallest unit of the asset. */
  readonly amount: bigint;
  /** The number of smallest units of the asset for one smallest unit of the price. */
  readonly factor: Ratio;
  /** The exchange rate, which limits how long the quote is valid. Null if the asset is at par with the unit of the price. */
  readonly rate: Rate | null;
}

export interface Price {
  /** The unit of the price: `iso4217/USD`, or `caip19/` and an asset id in canonical spelling. */
  readonly unit: string;
  readonly value: bigint;
  readonly decimals: number;
}

export interface QuotedAsset {
  /** A CAIP-19 id in canonical spelling. */
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Amounts converted from a currency are rounded up to this many decimals. Default: `decimals`. */
  readonly quoteDecimals?: number | undefined;
  readonly peg?: string;
  /**
   * The symbol whose exchange rate the asset has. Default: `symbol`. Wrapped coin has the rate of its coin, because its contract
   * exchanges both at any time.
   */
  readonly ratedAs?: string;
}

export interface QuoteInput {
  readonly price: Price;
  readonly asset: QuotedAsset;
  /** The rate of the pair from `ratePairOf`. Undefined if there is none now. */
  readonly rate: Rate | undefined;
}

/**
 * The quote of a price in an asset. Undefined if the asset cannot pay the price, or if the needed rate is missing. There is no
 * default rate.
 */
export function quoteFor({ price, asset, rate }: QuoteInput): Quote | undefined {
  const currency = fiatCodeOf(price.unit);
  if (currency === undefined) return price.unit === `caip19/${asset.id}` ? quoteAt(price.value, AS_IT_IS) : undefined;

  const pair = ratePairOf(price, asset);
  const scale = ratio(10n ** BigInt(asset.decimals), 10n ** BigInt(price.decimals));
  if (pair === undefined) return quoteAt(amountAt(price, asset, scale), scale);
  if (rate === undefined) return undefined;
  if (rate.base !== pair.base || rate.quote !== pair.quote) {
    throw new Error(`A quote in ${pair.base}/${pair.quote} was given the rate of ${rate.base}/${rate.quote}.`);
  }
  const factor = multiply(scale, inverse(rate.value));
  return quoteAt(amountAt(price, asset, factor), factor, rate);
}

/** The pair whose rate a quote needs. Undefined if it needs none. */
export function ratePairOf({ unit }: Pick<Price, 'unit'>, asset: QuotedAsset): Pair | undefined {
  const currency = fiatCodeOf(unit);
  if (currency === undefined || currency === asset.peg) return undefined;
  return { base: asset.peg ?? asset.ratedAs ?? asset.symbol, quote: currency };
}

export function feeInToken(quote: Quote, fee: bigint): bigint {
  const converted = convertRoundedDown(fee, quote.factor);
  return converted < quote.amount ? converted : quote.amount;
}

const AS_IT_IS: Ratio = { numerator: 1n, denominator: 1n };
/** The largest amount in a token contract. */
const MAX_UNITS = 2n ** 256n - 1n;

function quoteAt(amount: bigint, factor: Ratio, rate: Rate | null = null): Quote | undefined {
  return amount > MAX_UNITS ? undefined : { amount, factor, rate };
}

function amountAt({ value }: Price, asset: QuotedAsset, factor: Ratio): bigint {
  return roundUpToQuoteDecimals(convertRoundedUp(value, factor), asset);
}

/** Rounding up an amount adds at most one part in 100. */
const MOST_ADDED = 100n;

/**
 * Rounds up to the quote decimals of the asset: 14.287273 EURC becomes 14.29 EURC. The surplus goes to the merchant. An
 * amount so small that the surplus could exceed a hundredth of it keeps more decimals.
 */
export function roundUpToQuoteDecimals(
  amount: bigint,
  { decimals, quoteDecimals = decimals }: Pick<QuotedAsset, 'decimals' | 'quoteDecimals'>,
): bigint {
  let step = 10n ** BigInt(Math.max(0, decimals - quoteDecimals));
  while (step > 1n && step * MOST_ADDED > amount) step /= 10n;
  return ((amount + step - 1n) / step) * step;
}

/**
 * Converts an amount between units and rounds up. This function and `convertRoundedDown` are the only places where money is
 * rounded between units.
 */
export function convertRoundedUp(value: bigint, { numerator, denominator }: Ratio): bigint {
  return (value * numerator + denominator - 1n) / denominator;
}

export function convertRoundedDown(value: bigint, { numerator, denominator }: Ratio): bigint {
  return (value * numerator) / denominator;
}
