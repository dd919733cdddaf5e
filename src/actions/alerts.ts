import { runbookOf } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { type Alert, deleteAlert, upsertAlert } from '../store/plumbing/alerts.ts';
import { type CommandDeps, command } from './command.ts';

/** Raises an alert, which asks a person to act. The alert stays listed, and is exported as a metric, until it is cleared. */
export async function raiseAlert(
  deps: CommandDeps & { log: Log },
  alert: Pick<Alert, 'name' | 'subject' | 'message'>,
): Promise<void> {
  const isNew = await command(deps, (tx, now) => upsertAlert(tx, { ...alert, lastSeen: now }));
  if (isNew)
    deps.log.error({ alert: alert.name, subject: alert.subject, runbook: runbookOf(alert.name) }, alert.message);
}

/** Clears an alert. With `unseenSince`, clears it only if no node has raised it again since then. */
export async function clearAlert(
  deps: CommandDeps & { log: Log },
  alert: Pick<Alert, 'name' | 'subject'>,
  unseenSince?: Date,
): Promise<void> {
  const wasRaised = await command(deps, (tx) => deleteAlert(tx, alert, unseenSince));
  if (wasRaised) deps.log.info({ alert: alert.name, subject: alert.subject }, 'alert cleared');
}
