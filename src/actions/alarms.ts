import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { clearAlert, raiseAlert } from './alerts.ts';
import type { CommandDeps } from './command.ts';

/** Alerts of one name that come and go with a condition that is looked at again and again. */
export interface Alarms {
  /** Raises the alert with a message, or clears it without one. Writes only when something is new, or now and then. */
  set(subject: string, message: string | undefined): Promise<void>;
}

/** An alert that lasts is seen again this often. */
const REPEAT_MS = 60_000;

export function createAlarms(deps: CommandDeps & { log: Log }, name: AlertName): Alarms {
  /** When each was last raised; undefined once cleared. A subject that is missing may have been raised before a restart. */
  const known = new Map<string, number | undefined>();
  return {
    async set(subject, message) {
      const raisedAtMs = known.get(subject);
      const nowMs = deps.world.clock.nowMs();
      if (message === undefined) {
        if (known.has(subject) && raisedAtMs === undefined) return;
        await clearAlert(deps, { name, subject });
        known.set(subject, undefined);
      } else if (raisedAtMs === undefined || nowMs - raisedAtMs >= REPEAT_MS) {
        await raiseAlert(deps, { name, subject, message });
        known.set(subject, nowMs);
      }
    },
  };
}
