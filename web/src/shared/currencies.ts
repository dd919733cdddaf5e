import type { PayableCurrency } from '../../../src/domain/currency.ts';

/**
 * The currencies in which a payment of this mode can be priced; of all modes, if `mode` is undefined. `codes` has the currencies that
 * can be paid with the merchant's assets. If `codes` is empty, all currencies are returned, and the gateway checks the currency when
 * the payment is created.
 */
export function currenciesOf(
  currencies: readonly PayableCurrency[],
  mode: 'test' | 'live' | undefined,
  codes: readonly string[] = [],
): readonly PayableCurrency[] {
  const payable = mode === undefined ? currencies : currencies.filter(({ modes }) => modes.includes(mode));
  return codes.length === 0 ? payable : payable.filter(({ code }) => codes.includes(code));
}
