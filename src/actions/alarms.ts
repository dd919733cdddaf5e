import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { clearAlert, raiseAlert } from './alerts.ts';
import type { CommandDeps } from './command.ts';

/** Alerts of one name that follow a condition which is checked repeatedly. */
export interface Alarms {
  /** Raises the alert with a message, clears it without one. Called at every check; writes on a change and once a minute. */
  set(subject: string, message: string | undefined): Promise<void>;
}

export interface AlarmOptions {
  /**
   * The condition is one of this node, such as an unreachable rate source, and may differ on other nodes. A node then clears only
   * an alert that it raised itself, or that no node has raised again for `UNSEEN_MS`. Without this option the condition is the same
   * for all nodes, and the last check decides.
   */
  readonly isPerNode?: boolean;
}

/** A lasting alert is raised again, and an absent one cleared again, at this interval. */
const REPEAT_MS = 60_000;
/** Longer than two checks of a living node: the rarest check runs once a minute. */
const UNSEEN_MS = 3 * REPEAT_MS;

/**
 * A node remembers what it wrote for a minute at most, to save writes: another node may have raised or cleared the alert since. So
 * the table converges to the present state of the condition, whichever nodes start and stop.
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
