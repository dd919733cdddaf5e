import { ratePairOf } from '../domain/quote.ts';
import type { Pair } from '../domain/rate.ts';
import { createHttpSource } from '../rates/http-source.ts';
import { PUBLIC_CURRENCIES, publicSources } from '../rates/public-sources.ts';
import { keyOf } from '../rates/rate-book.ts';
import type { RateSource } from '../rates/rates.ts';
import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import type { World } from '../runtime/world.ts';
import type { NetworkInUse } from './chains.ts';
import type { Config } from './config.ts';

/**
 * The rate sources that the settings name. Empty if they name none. A pair in `RATE_SOURCES` is read only from the sources given
 * there, without the public ones: otherwise one source could vote twice, under two names.
 */
export function configuredSources(
  { config, world }: { readonly config: Config; readonly world: World },
  networks: readonly NetworkInUse[],
): readonly RateSource[] {
  const own = (config.rateSources ?? []).map((source) => createHttpSource(world.timers, source));
  if (config.rates === undefined) return own;
  const taken = new Set(own.flatMap(({ requests }) => requests.flatMap(({ pairs }) => pairs.map(keyOf))));
  const symbols = [...neededPairs(networks).map(({ base }) => base), ...PUBLIC_CURRENCIES];
  const free = symbols.filter((symbol) => !taken.has(keyOf({ base: symbol, quote: 'USD' })));
  // Public sources get the real clock: they state the real time, and a sandbox's clock can be ahead of it.
  return [...own, ...publicSources(unshiftedWorld(world), free)];
}

/** The pairs whose rates convert prices in dollars to amounts of the payable assets of these networks. */
export function neededPairs(networks: readonly NetworkInUse[]): readonly Pair[] {
  const pairs = networks
    .flatMap(({ network }) => [...network.assets.values()])
    .filter(({ pay }) => pay !== undefined)
    .flatMap((asset) => ratePairOf({ unit: 'iso4217/USD' }, asset) ?? []);
  return [...Map.groupBy(pairs, keyOf).values()].flatMap(([first]) => first ?? []);
}
