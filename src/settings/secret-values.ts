import { type Config, SETTINGS } from './config.ts';
import type { Setting } from './setting.ts';

/** All secret values of the configuration, which the log masks. */
export function secretValues(config: Config): string[] {
  return Object.entries<Setting<unknown>>(SETTINGS).flatMap(([name, { kind }]) => {
    const value = config[name as keyof typeof SETTINGS];
    return value === undefined ? [] : (kind.secretsOf?.(value) ?? []);
  });
}
