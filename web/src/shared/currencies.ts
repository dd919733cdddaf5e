/** A currency to choose, with the gateway's decimals: browsers use other decimals for some. */
export interface PayableCurrency {
  readonly code: string;
  readonly decimals: number;
  /** The modes whose payments take it. */
  readonly modes: readonly ('test' | 'live')[];
}

/** The currencies that a payment of this mode can be priced in. Without a mode, all of them. */
export function currenciesOf(
  currencies: readonly PayableCurrency[],
  mode: 'test' | 'live' | undefined,
): readonly PayableCurrency[] {
  return mode === undefined ? currencies : currencies.filter(({ modes }) => modes.includes(mode));
}
