import type { AlertName } from '../../domain/alert.ts';
import type { Reader, Tx } from './database.ts';

export interface Alert {
  readonly name: AlertName;
  /** What it is about: a job, a network, a relayer. */
  readonly subject: string;
  readonly message: string;
  readonly since: Date;
  readonly lastSeen: Date;
}

/** Whether it is new: a known one is only seen again. */
export async function upsertAlert(tx: Tx, alert: Omit<Alert, 'since'>): Promise<boolean> {
  const [row] = await tx<{ isNew: boolean }[]>`
    insert into alerts (name, subject, message, since, last_seen)
    values (${alert.name}, ${alert.subject}, ${alert.message}, ${alert.lastSeen}, ${alert.lastSeen})
    on conflict (name, subject) do update set message = excluded.message, last_seen = excluded.last_seen
    returning since = last_seen as "isNew"`;
  return row?.isNew ?? false;
}

/** Whether there was one to clear. */
export async function deleteAlert(tx: Tx, { name, subject }: Pick<Alert, 'name' | 'subject'>): Promise<boolean> {
  const { count } = await tx`delete from alerts where name = ${name} and subject = ${subject}`;
  return count === 1;
}

export function listAlerts(db: Reader): Promise<Alert[]> {
  return db<
    Alert[]
  >`select name, subject, message, since, last_seen as "lastSeen" from alerts order by since, name, subject`;
}
