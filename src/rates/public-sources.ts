import { findCurrency } from '../domain/currency.ts';
import type { Clock, Timers } from '../runtime/world.ts';
import { CENTRAL_BANKS } from './public-central-banks.ts';
import { EXCHANGES } from './public-exchanges.ts';
import { createPublicSource, type PublicSource } from './public-source.ts';
import type { RateSource } from './rates.ts';

/** The sources of `RATES=public`. Each answers for pairs with the dollar; other pairs are crossed through the dollar. */
export const PUBLIC_SOURCES: readonly PublicSource[] = [...EXCHANGES, ...CENTRAL_BANKS];

/** Every currency with public sources, besides the dollar. */
export const PUBLIC_CURRENCIES: readonly string[] = [
  ...new Set(PUBLIC_SOURCES.flatMap(({ symbols }) => symbols.filter((symbol) => findCurrency(symbol) !== undefined))),
];

/** The public sources, for some symbols of coins and currencies. */
export function publicSources(
  deps: { readonly timers: Timers; readonly clock: Clock },
  symbols: readonly string[],
): readonly RateSource[] {
  return PUBLIC_SOURCES.flatMap((source) => createPublicSource(deps, source, symbols) ?? []);
}
