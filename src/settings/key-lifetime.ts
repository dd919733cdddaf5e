import type { World } from '../runtime/world.ts';
import type { Config } from './config.ts';

const DAY_MS = 86_400_000;

/** The end of a key whose issuer gives none. Null: it has no end. */
export function defaultKeyEnd({ config, world }: { config: Config; world: World }): Date | null {
  const { keyLifetimeDays } = config;
  return keyLifetimeDays === undefined ? null : new Date(world.clock.nowMs() + keyLifetimeDays * DAY_MS);
}
