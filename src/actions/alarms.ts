import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { clearAlert, raiseAlert } from './alerts.ts';
import type { CommandDeps } from './command.ts';

/** Alerts of one name that follow a condition which is checked repeatedly. */
export interface Alarms {
  /** Raises the alert with a message, clears it without one. Called at every look; writes on a change and once a minute. */
  set(subject: string, message: string | undefined): Promise<void>;
}

export interface AlarmOptions {
  /**
   * The condition is one of this node, such as an unreachable rate source, and other nodes may see it otherwise. A node then
   * clears only an alert that it raised itself, or that no node has seen for a while. Without it the condition is the same for
   * all nodes, and the last look decides.
   */
  readonly isPerNode?: boolean;
}

/** An alert that lasts is seen again this often, and an alert that is over is cleared again this often. */
const REPEAT_MS = 60_000;
/** Longer than two looks of a node that is alive: the rarest look is once a minute. */
const UNSEEN_MS = 3 * REPEAT_MS;

/**
 * The memory of a node only saves writes, for a minute: another node may have raised or cleared the alert since. So the
 * table converges to the present state of the condition, whichever nodes come and go.
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
