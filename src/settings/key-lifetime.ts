import type { World } from '../runtime/world.ts';
import type { Config } from './config.ts';

const DAY_MS = 86_400_000;

/** The expiry of an API key that was issued without one. Null if keys do not expire. */
export function defaultKeyEnd({ config, world }: { config: Config; world: World }): Date | null {
  const { keyLifetimeDays } = config;
  return keyLifetimeDays === undefined ? null : new Date(world.clock.nowMs() + keyLifetimeDays * DAY_MS);
}
