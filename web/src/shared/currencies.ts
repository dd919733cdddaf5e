import type { PayableCurrency } from '../../../src/domain/currency.ts';

/**
 * The currencies that a payment of this mode can be priced in. Without a mode, all of them. `codes` are those that the merchant's
 * assets can pay. Without them, or if there are none, the gateway decides when the payment is created.
 */
export function currenciesOf(
  currencies: readonly PayableCurrency[],
  mode: 'test' | 'live' | undefined,
  codes: readonly string[] = [],
): readonly PayableCurrency[] {
  const payable = mode === undefined ? currencies : currencies.filter(({ modes }) => modes.includes(mode));
  return codes.length === 0 ? payable : payable.filter(({ code }) => codes.includes(code));
}
