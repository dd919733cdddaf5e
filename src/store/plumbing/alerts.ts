import type { AlertName } from '../../domain/alert.ts';
import type { Reader, Tx } from './database.ts';

export interface Alert {
  readonly name: AlertName;
  /** The job, network, relayer or other thing that the alert is about. */
  readonly subject: string;
  readonly message: string;
  readonly since: Date;
  readonly lastSeen: Date;
}

/** Raises an alert. Returns true if it is new. An alert that is already raised gets the new message and `last_seen`. */
export async function upsertAlert(tx: Tx, alert: Omit<Alert, 'since'>): Promise<boolean> {
  const [row] = await tx<{ isNew: boolean }[]>`
    insert into alerts (name, subject, message, since, last_seen)
    values (${alert.name}, ${alert.subject}, ${alert.message}, ${alert.lastSeen}, ${alert.lastSeen})
    on conflict (name, subject) do update set message = excluded.message, last_seen = excluded.last_seen
    returning since = last_seen as "isNew"`;
  return row?.isNew ?? false;
}

/**
 * Ends an alert by moving it to the past alerts, and returns true if it was raised. With `unseenSince`, the alert ends only if it was not
 * seen after that time. The end is `now()` of the database, because nodes use the database's clock.
 */
export async function deleteAlert(
  tx: Tx,
  { name, subject }: Pick<Alert, 'name' | 'subject'>,
  unseenSince?: Date,
): Promise<boolean> {
  const isUnseen = unseenSince === undefined ? tx`true` : tx`last_seen <= ${unseenSince}`;
  const { count } = await tx`
    with ended as (
      delete from alerts where name = ${name} and subject = ${subject} and ${isUnseen}
      returning name, subject, message, since, is_mailed
    )
    insert into past_alerts (name, subject, message, since, until, is_end_unmailed)
    select name, subject, message, since, greatest(since, now()), is_mailed from ended`;
  return count === 1;
}

export function listAlerts(db: Reader): Promise<Alert[]> {
  return db<
    Alert[]
  >`select name, subject, message, since, last_seen as "lastSeen" from alerts order by since, name, subject`;
}

/** An alert that is raised now, or that was raised in the past. */
export interface RaisedAlert extends Pick<Alert, 'name' | 'subject' | 'message' | 'since'> {
  /** The end of the alert. Null while it is raised. */
  readonly until: Date | null;
}

export interface AlertQuery {
  readonly subjects: readonly string[];
  /**
   * Networks whose alerts are found as well: those about accounts and jobs of these networks, such as `eip155:1:0x…` and `watch eip155:1`.
   */
  readonly networks: readonly string[];
  readonly from: Date;
  readonly to: Date;
  readonly limit: number;
}

/** Alerts about these subjects that were raised at some time within the period, the newest first. */
export function findAlertsAbout(
  db: Reader,
  { subjects, networks, from, to, limit }: AlertQuery,
): Promise<RaisedAlert[]> {
  const isAbout = db`(subject = any(${[...subjects, ...networks]}::text[])
    or substring(subject from '^[^: ]+:[^: ]+') = any(${networks as string[]}::text[])
    or split_part(subject, ' ', 2) = any(${networks as string[]}::text[]))`;
  return db<RaisedAlert[]>`
    select name, subject, message, since, null::timestamptz as until from alerts where since <= ${to} and ${isAbout}
    union all
    select name, subject, message, since, until from past_alerts
    where until >= ${from} and since <= ${to} and ${isAbout}
    order by since desc limit ${limit}`;
}

/**
 * Marks the ends of alerts as mailed, the oldest end first, and returns these alerts. An end is mailed only if the start was mailed.
 */
export function takeUnmailedEnds(tx: Tx, limit: number): Promise<RaisedAlert[]> {
  return tx<RaisedAlert[]>`
    update past_alerts set is_end_unmailed = false where ctid = any(array(
      select ctid from past_alerts where is_end_unmailed order by until limit ${limit} for update skip locked))
    returning name, subject, message, since, until`;
}

/** Marks raised alerts as mailed, the oldest first, and returns them for the mail. */
export function takeUnmailedAlerts(tx: Tx, limit: number): Promise<RaisedAlert[]> {
  return tx<RaisedAlert[]>`
    update alerts set is_mailed = true where ctid = any(array(
      select ctid from alerts where not is_mailed order by since limit ${limit} for update skip locked))
    returning name, subject, message, since, null::timestamptz as until`;
}

export async function countUnmailed(db: Reader): Promise<number> {
  const [row] = await db<{ alerts: number }[]>`
    select (select count(*) from alerts where not is_mailed)::int
      + (select count(*) from past_alerts where is_end_unmailed)::int as alerts`;
  return row?.alerts ?? 0;
}

/** Deletes at most `limit` alerts that ended before `before`, and returns their number. */
export async function prunePastAlerts(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from past_alerts where ctid = any(array(
      select ctid from past_alerts where until < ${before} order by until limit ${limit} for update skip locked))`;
  return count;
}
