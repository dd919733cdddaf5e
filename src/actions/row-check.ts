import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { createAlarms } from './alarms.ts';
import { knowsNewestSecret, type SecretDeps } from './open-receipt-key.ts';

interface RowCheck<Row> {
  readonly alert: AlertName;
  isOwn(row: Row): boolean;
  messageOf(row: Row): string;
}

/** Returns true for a row that the gateway wrote. Any other row raises an alert, for which a reader does not wait. */
export function createRowCheck<Row extends { readonly id: string }>(
  deps: SecretDeps & { readonly log: Log },
  { alert, isOwn, messageOf }: RowCheck<Row>,
): (row: Row) => boolean {
  const alarms = createAlarms(deps, alert);
  const raise = async (row: Row) => {
    // This node lacks the newest master secret, so it cannot tell. It is not ready, and says so.
    if (!(await knowsNewestSecret(deps.db.sql, deps.secrets))) return;
    await alarms.set(row.id, messageOf(row));
  };
  return (row) => {
    if (isOwn(row)) return true;
    raise(row).catch((error: unknown) => deps.log.warn({ err: error }, 'an alert was not stored'));
    return false;
  };
}
