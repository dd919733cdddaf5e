import { latinDigits } from '../../../src/domain/latin-digits.ts';
import { decimalText, formatDecimal } from '../../../src/domain/money.ts';

/** An amount as in the API: an integer of the smallest unit, and the data to format it. */
export interface Amount {
  /** The currency or asset: `iso4217/EUR` or `caip19/eip155:8453/erc20:0x…`. */
  readonly unit: string;
  readonly value: string;
  readonly display: {
    readonly assetSymbol: string;
    readonly assetName: string;
    readonly decimals: number;
    readonly iconUrl?: string | null;
    readonly networkName?: string | null;
    readonly networkIconUrl?: string | null;
  };
}

/** The largest number of shown decimals, enough to distinguish payable amounts. The 18 decimals of coins are too many to read. */
const MAX_SHOWN_DECIMALS = 8;

/** An amount rounded up to at most eight decimals, so that the shown amount is never less than the exact amount. */
export function shortened({ value, display }: Amount): { readonly text: string; readonly isExact: boolean } {
  const surplus = display.decimals - MAX_SHOWN_DECIMALS;
  if (surplus <= 0) return { text: decimalText(value, display.decimals), isExact: true };
  const unit = 10n ** BigInt(surplus);
  const exact = BigInt(value);
  const rounded = (exact + unit - 1n) / unit;
  return { text: decimalText(rounded, MAX_SHOWN_DECIMALS), isExact: rounded * unit === exact };
}

/** The language and direction of formatted numbers. */
export interface NumberStyle {
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
}

/** Formats an amount in the payer's language: `€12.34`, `12,34 €`, `0.0035 ETH`. */
export function formatAmount(amount: Amount, style: NumberStyle): string {
  const { assetSymbol, decimals } = amount.display;
  const [kind, currency = ''] = amount.unit.split('/');
  if (kind !== 'iso4217') return withSymbol(shortened(amount).text, assetSymbol, style);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return formatMoney(decimalText(amount.value, decimals), currency, style, digits);
}

/** A unit price in a currency, with three to six significant digits: `€2,272.73`, `$1.10`. */
export function formatPrice(text: string, currency: string, style: NumberStyle): string {
  return formatMoney(text, currency, style, { minimumSignificantDigits: 3, maximumSignificantDigits: 6 });
}

export function formatMoney(
  text: string,
  currency: string,
  style: NumberStyle,
  digits: Intl.NumberFormatOptions,
): string {
  try {
    const format = numberFormat(style.locale, { style: 'currency', currency, ...digits });
    if (style.dir === 'ltr') return format.format(text as `${number}`);
    const parts = format.formatToParts(text as `${number}`);
    return inOrder(parts.map(({ type, value }) => (type === 'currency' ? isolated(value) : value)).join(''));
  } catch {
    // If the browser does not know the currency, the code of the currency is shown.
    return withSymbol(text, currency, style);
  }
}

/** The cached number formatters. Creating one takes longer than using it, and a table has hundreds of amounts. */
const formats: Record<string, Intl.NumberFormat> = {};

export function numberFormat(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = locale + JSON.stringify(options);
  formats[key] ??= new Intl.NumberFormat(latinDigits(locale), options);
  return formats[key];
}

/** Formats an amount with a symbol that locale data does not have, such as a token's. Zeros after its second decimal are cut. */
export function withSymbol(text: string, symbol: string, { locale, dir }: NumberStyle): string {
  const decimals = text.split('.')[1]?.length ?? 0;
  const number = numberFormat(locale, {
    minimumFractionDigits: Math.min(2, decimals),
    maximumFractionDigits: decimals,
  }).format(text as `${number}`);
  return dir === 'ltr' ? `${number}\u00a0${symbol}` : inOrder(`${number}\u00a0${isolated(symbol)}`);
}

/**
 * Sets the order of a number and its currency in right-to-left languages: the number on the right and the currency on the left, for
 * tokens as for currencies. Bidi isolates in the text also work in attributes, which have no direction.
 */
function inOrder(text: string): string {
  return `\u2067${text}\u2069`;
}

/** A currency symbol as a bidi isolate. Without it, the bidi algorithm would move the sign of `US$` before its letters. */
function isolated(symbol: string): string {
  return `\u2068${symbol}\u2069`;
}

/** An estimated fee with two significant digits, rounded up. */
export function formatEstimate(units: bigint, decimals: number, symbol: string, style: NumberStyle): string {
  const digits = units.toString();
  const unit = 10n ** BigInt(Math.max(0, digits.length - 2));
  const rounded = ((units + unit - 1n) / unit) * unit;
  return withSymbol(formatDecimal({ units: rounded, decimals }), symbol, style);
}
