import type { Mode } from '../domain/mode.ts';
import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

const HOUR_MS = 3_600_000;
const LIVE_HOURS = 24;

/** How long a change of a settlement destination waits. Without a setting only real money waits. */
export function coolingOffMs(config: Config, mode: Mode): number {
  const hours = config.coolingOffHours ?? (mode === 'live' && !isSandbox(config) ? LIVE_HOURS : 0);
  return hours * HOUR_MS;
}
