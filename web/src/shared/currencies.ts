import type { PayableCurrency } from '../../../src/domain/currency.ts';

/** The currencies that a payment of this mode can be priced in. Without a mode, all of them. */
export function currenciesOf(
  currencies: readonly PayableCurrency[],
  mode: 'test' | 'live' | undefined,
): readonly PayableCurrency[] {
  return mode === undefined ? currencies : currencies.filter(({ modes }) => modes.includes(mode));
}
