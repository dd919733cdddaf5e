import type { Account } from '../domain/caip.ts';
import type { Mode } from '../domain/mode.ts';
import { isSandbox } from './chains.ts';
import type { Config } from './config.ts';

const HOUR_MS = 3_600_000;
const LIVE_HOURS = 24;

/** A test account. In a sandbox, a change of the settlement destination to it waits as in live mode, so that a veto can be tested. */
export const SLOW_ADDRESS = '0x2400000000000000000000000000000000000024';

/** The waiting time before a settlement destination changes to this account. If no time is configured, only changes in live mode wait. */
export function coolingOffMs(config: Config, mode: Mode, to?: Pick<Account, 'address'>): number {
  const isSlow = isSandbox(config) ? to?.address === SLOW_ADDRESS : mode === 'live';
  const hours = config.coolingOffHours ?? (isSlow ? LIVE_HOURS : 0);
  return hours * HOUR_MS;
}
