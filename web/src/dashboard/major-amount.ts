import { formatMoney, type NumberStyle, withSymbol } from '../shared/money.ts';

/** Major units of a currency or a token, as the API's statistics have them, with its decimals. */
export interface MajorAmount {
  readonly amount: string;
  readonly currency: string;
  readonly kind: 'currency' | 'token';
  readonly decimals: number;
}

/** A token may have the form of a currency's code, such as ETH, and browsers have decimals of their own for some currencies. */
export function formatMajor({ amount, currency, kind, decimals }: MajorAmount, style: NumberStyle): string {
  if (kind === 'token') return withSymbol(amount, currency, style);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return formatMoney(amount, currency, style, digits);
}
