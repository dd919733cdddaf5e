/** As the API shows amounts: an integer of the smallest unit, and what is needed to show it. */
export interface Amount {
  /** `iso4217/EUR` or `caip19/eip155:8453/erc20:0x…`. */
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

/** Amounts are integers of the smallest unit. They become text without ever being a floating-point number. */

/** `decimalText('1234', 2)` is `12.34`. */
export function decimalText(value: string, decimals: number): string {
  const digits = value.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/^0+(?=\d)/, '');
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
}

/** Enough to tell any two payable amounts apart; coins have 18 decimals, which nobody reads. */
const MAX_SHOWN_DECIMALS = 8;

/** Fewer decimals, rounded up: what is shown is never less than what is paid. */
export function shortened({ value, display }: Amount): { readonly text: string; readonly isExact: boolean } {
  const surplus = display.decimals - MAX_SHOWN_DECIMALS;
  if (surplus <= 0) return { text: decimalText(value, display.decimals), isExact: true };
  const unit = 10n ** BigInt(surplus);
  const exact = BigInt(value);
  const rounded = (exact + unit - 1n) / unit;
  return { text: decimalText(rounded.toString(), MAX_SHOWN_DECIMALS), isExact: rounded * unit === exact };
}

/** In the payer's language: `€12.34`, `12,34 €`, `0.0035 ETH`. */
export function formatAmount(amount: Amount, locale: string): string {
  const { assetSymbol, decimals } = amount.display;
  if (!amount.unit.startsWith('iso4217/')) return `${formatNumber(shortened(amount).text, locale)} ${assetSymbol}`;
  const text = decimalText(amount.value, decimals);
  try {
    return new Intl.NumberFormat(latinDigits(locale), {
      style: 'currency',
      currency: amount.unit.slice('iso4217/'.length),
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    }).format(text as `${number}`);
  } catch {
    // A currency the browser has never heard of.
    return `${formatNumber(text, locale)} ${assetSymbol}`;
  }
}

/** At least two decimals where there are any, as money is written. */
function formatNumber(text: string, locale: string): string {
  const decimals = text.split('.')[1]?.length ?? 0;
  return new Intl.NumberFormat(latinDigits(locale), {
    minimumFractionDigits: Math.min(2, decimals),
    maximumFractionDigits: decimals,
  }).format(text as `${number}`);
}

/** Two digits that count, rounded up: for what a fee will roughly be. */
export function formatEstimate(units: bigint, decimals: number, locale: string): string {
  const digits = units.toString();
  const unit = 10n ** BigInt(Math.max(0, digits.length - 2));
  const rounded = ((units + unit - 1n) / unit) * unit;
  const text = decimalText(rounded.toString(), decimals).replace(/\.?0+$/, '');
  return new Intl.NumberFormat(latinDigits(locale), { maximumFractionDigits: decimals }).format(text as `${number}`);
}

/** Wallets show the digits 0–9 in every language, and payers compare. */
export function latinDigits(locale: string): string {
  return `${locale}-u-nu-latn`;
}
