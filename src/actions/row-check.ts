import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { createAlarms } from './alarms.ts';
import { raiseAlert } from './alerts.ts';
import { knowsNewestSecret, type SecretDeps } from './open-receipt-key.ts';

interface RowCheck<Row> {
  readonly alert: AlertName;
  isOwn(row: Row): boolean;
  messageOf(row: Row): string;
}

/** Raises an alert about a row that the gateway did not write, unless this node cannot judge it. */
export async function raiseForged(
  deps: SecretDeps & { readonly log: Log },
  alert: Parameters<typeof raiseAlert>[1],
): Promise<void> {
  // Without the newest master secret every newer row looks forged. The readiness check of the node reports the missing secret.
  if (await knowsNewestSecret(deps.db.sql, deps.secrets)) await raiseAlert(deps, alert);
}

/** Returns true for a row that the gateway wrote. Any other row raises an alert, which is stored in the background. */
export function createRowCheck<Row extends { readonly id: string }>(
  deps: SecretDeps & { readonly log: Log },
  { alert, isOwn, messageOf }: RowCheck<Row>,
): (row: Row) => boolean {
  const alarms = createAlarms(deps, alert);
  const raise = async (row: Row) => {
    // Without the newest master secret this node cannot judge the row. Its readiness check reports the missing secret.
    if (!(await knowsNewestSecret(deps.db.sql, deps.secrets))) return;
    await alarms.set(row.id, messageOf(row));
  };
  return (row) => {
    if (isOwn(row)) return true;
    raise(row).catch((error: unknown) => deps.log.warn({ err: error }, 'an alert was not stored'));
    return false;
  };
}
