import { formatMoney, type NumberStyle, withSymbol } from '../shared/money.ts';
import type { Volume } from './api-types.ts';

/**
 * Formats an amount in major units. The kind is needed because a token's symbol, such as ETH, may look like a currency code. The
 * decimals are given because browsers use other decimals for some currencies.
 */
export function formatMajor({ amount, currency, kind, decimals }: Volume, style: NumberStyle): string {
  if (kind === 'token') return withSymbol(amount, currency, style);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return formatMoney(amount, currency, style, digits);
}
