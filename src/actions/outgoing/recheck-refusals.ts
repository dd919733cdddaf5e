import { findOutgoing } from '../../store/money/outgoing.ts';
import { findDestinationRows } from '../../store/parties/destinations.ts';
import { deleteAlert, listAlerts } from '../../store/plumbing/alerts.ts';
import { type CommandDeps, command } from '../command.ts';
import { isOwnDestination } from '../parties/destination-rows.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/** Clears the alerts about rows that are repaired, removed or over. */
export async function recheckRefusals(deps: CommandDeps & RowKeyDeps): Promise<boolean> {
  for (const { name, subject } of await listAlerts(deps.db.sql)) {
    if (await isOver(deps, name, subject)) await command(deps, (tx) => deleteAlert(tx, { name, subject }));
  }
  return false;
}

async function isOver(deps: CommandDeps & RowKeyDeps, name: string, subject: string): Promise<boolean> {
  if (name === 'destination_refused') {
    const [row] = await findDestinationRows(deps.db.sql, [subject]);
    return row === undefined || isOwnDestination(deps, row);
  }
  if (name !== 'outgoing_refused') return false;
  // A transfer that passes its check is begun, which clears the alert.
  const outgoing = await findOutgoing(deps.db.sql, subject);
  return outgoing?.state !== 'sending' || outgoing.isDue;
}
