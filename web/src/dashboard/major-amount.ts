import { formatMoney, type NumberStyle, withSymbol } from '../shared/money.ts';

/** An amount in major units of a currency or token, as in the API's statistics. */
export interface MajorAmount {
  readonly amount: string;
  readonly currency: string;
  readonly kind: 'currency' | 'token';
  readonly decimals: number;
}

/**
 * The kind is needed because a token's symbol, such as ETH, may look like a currency code. The decimals are given because browsers
 * use other decimals for some currencies.
 */
export function formatMajor({ amount, currency, kind, decimals }: MajorAmount, style: NumberStyle): string {
  if (kind === 'token') return withSymbol(amount, currency, style);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return formatMoney(amount, currency, style, digits);
}
