import type { AlertName } from '../../domain/alert.ts';
import type { Reader, Tx } from './database.ts';

export interface Alert {
  readonly name: AlertName;
  /** The subject: a job, a network, a relayer. */
  readonly subject: string;
  readonly message: string;
  readonly since: Date;
  readonly lastSeen: Date;
}

/** Returns true if the alert is new. A known alert only gets a new `last_seen`. */
export async function upsertAlert(tx: Tx, alert: Omit<Alert, 'since'>): Promise<boolean> {
  const [row] = await tx<{ isNew: boolean }[]>`
    insert into alerts (name, subject, message, since, last_seen)
    values (${alert.name}, ${alert.subject}, ${alert.message}, ${alert.lastSeen}, ${alert.lastSeen})
    on conflict (name, subject) do update set message = excluded.message, last_seen = excluded.last_seen
    returning since = last_seen as "isNew"`;
  return row?.isNew ?? false;
}

/** Returns true if an alert was deleted. With a time, only an alert that was not seen since then is. */
export async function deleteAlert(
  tx: Tx,
  { name, subject }: Pick<Alert, 'name' | 'subject'>,
  unseenSince?: Date,
): Promise<boolean> {
  const isUnseen = unseenSince === undefined ? tx`true` : tx`last_seen <= ${unseenSince}`;
  const { count } = await tx`delete from alerts where name = ${name} and subject = ${subject} and ${isUnseen}`;
  return count === 1;
}

export function listAlerts(db: Reader): Promise<Alert[]> {
  return db<
    Alert[]
  >`select name, subject, message, since, last_seen as "lastSeen" from alerts order by since, name, subject`;
}
