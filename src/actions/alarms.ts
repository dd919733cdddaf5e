import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { clearAlert, raiseAlert } from './alerts.ts';
import type { CommandDeps } from './command.ts';

/** Raises and clears the alerts of one name. Each alert follows a condition that is checked repeatedly. */
export interface Alarms {
  /**
   * Raises the alert of the subject if there is a message, and clears it otherwise. Must be called at every check. Writes to the database
   * only when the message appears or disappears, and once a minute.
   */
  set(subject: string, message: string | undefined): Promise<void>;
}

export interface AlarmOptions {
  /**
   * True if the condition may hold on one node and not on others, such as an unreachable rate source. A node then clears only an alert
   * that it raised itself, or that no node has raised again for `UNSEEN_MS`. If false, the condition is the same for all nodes, and the
   * last check decides.
   */
  readonly isPerNode?: boolean;
}

/** The interval at which an unchanged state is written again: a lasting alert is raised again, an absent alert is cleared again. */
const REPEAT_MS = 60_000;
/**
 * An alert that no node has raised again for this long may be cleared by any node. Longer than two checks of a running node, because the
 * rarest check runs once a minute.
 */
const UNSEEN_MS = 3 * REPEAT_MS;

/**
 * Creates the alerts of one name. To save writes, a node remembers for a minute at most what it wrote. After that it writes again,
 * because another node may have raised or cleared the alert. So the table converges to the present state of the condition, whichever
 * nodes start and stop.
 */
export function createAlarms(
  deps: CommandDeps & { log: Log },
  name: AlertName,
  { isPerNode = false }: AlarmOptions = {},
): Alarms {
  const written = new Map<string, { readonly isRaised: boolean; readonly atMs: number }>();
  return {
    async set(subject, message) {
      const nowMs = deps.world.clock.nowMs();
      const last = written.get(subject);
      const isRaised = message !== undefined;
      if (last?.isRaised === isRaised && nowMs - last.atMs < REPEAT_MS) return;
      if (isRaised) await raiseAlert(deps, { name, subject, message });
      else {
        const isOthers = isPerNode && last?.isRaised !== true;
        await clearAlert(deps, { name, subject }, isOthers ? new Date(nowMs - UNSEEN_MS) : undefined);
      }
      written.set(subject, { isRaised, atMs: nowMs });
    },
  };
}
