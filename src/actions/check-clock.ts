import { clockRemark } from '../domain/clock-off.ts';
import type { Log } from '../runtime/world.ts';
import { createAlarms } from './alarms.ts';
import type { CommandDeps } from './command.ts';

export interface ClockCheckDeps extends CommandDeps {
  readonly log: Log;
  readonly host: string;
  /** Milliseconds by which the machine's clock is ahead of the database. */
  readonly clockOffMs: () => number;
}

/**
 * Raises an alert while the clock of this machine is wrong. The gateway itself uses the clock of the database, but other programs
 * on the machine do not.
 */
export function createClockCheck(deps: ClockCheckDeps): () => Promise<boolean> {
  const alarms = createAlarms(deps, 'clock_off', { isPerNode: true });
  return async () => {
    await alarms.set(deps.host, clockRemark(deps.clockOffMs()));
    return false;
  };
}
