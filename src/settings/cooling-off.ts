import type { Account } from '../domain/caip.ts';
import type { Mode } from '../domain/mode.ts';
import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

const HOUR_MS = 3_600_000;
const LIVE_HOURS = 24;

/** In a sandbox, a change to this account waits as in live mode, so that a veto can be tested. */
export const SLOW_ADDRESS = '0x2400000000000000000000000000000000000024';

/** The waiting time before a settlement destination changes to this account. Without a setting only live mode has one. */
export function coolingOffMs(config: Config, mode: Mode, to?: Pick<Account, 'address'>): number {
  const isSlow = isSandbox(config) ? to?.address === SLOW_ADDRESS : mode === 'live';
  const hours = config.coolingOffHours ?? (isSlow ? LIVE_HOURS : 0);
  return hours * HOUR_MS;
}
