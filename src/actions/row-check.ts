import type { AlertName } from '../domain/alert.ts';
import type { Log } from '../runtime/world.ts';
import { createAlarms } from './alarms.ts';
import type { CommandDeps } from './command.ts';

interface RowCheck<Row> {
  readonly alert: AlertName;
  isOwn(row: Row): boolean;
  messageOf(row: Row): string;
}

/** Returns true for a row that the gateway wrote. Any other row raises an alert, for which a reader does not wait. */
export function createRowCheck<Row extends { readonly id: string }>(
  deps: CommandDeps & { readonly log: Log },
  { alert, isOwn, messageOf }: RowCheck<Row>,
): (row: Row) => boolean {
  const alarms = createAlarms(deps, alert);
  return (row) => {
    if (isOwn(row)) return true;
    alarms
      .set(row.id, messageOf(row))
      .catch((error: unknown) => deps.log.warn({ err: error }, 'an alert was not stored'));
    return false;
  };
}
