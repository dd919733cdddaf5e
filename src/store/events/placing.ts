import type { Mode } from '../../domain/mode.ts';
import type { Reader } from '../plumbing/database.ts';
import type { Lease } from '../plumbing/leases.ts';
import type { SingleStatement } from '../plumbing/single-statement.ts';

export const EVENTS_CHANNEL = 'till_events';
/** The largest number of names in a NOTIFY message. A payload has at most 8,000 bytes, an id at most 33, and the name of a feed 36. */
const IDS_PER_MESSAGE = 200;

/** The name under which the events of a partner in one mode are announced. */
export function feedName({ partnerId, mode }: { readonly partnerId: string; readonly mode: Mode }): string {
  return `${partnerId}/${mode}`;
}

/** True if the text is the name of a feed. The id of an object contains no slash. */
export function isFeedName(name: string): boolean {
  return name.includes('/');
}

export interface PlacingTerms {
  /** The largest number of event batches that get positions in one round. */
  readonly limit: number;
  /** True if the position of the write-ahead log is stored with each batch, as read replicas need it. */
  readonly notesWal?: boolean | undefined;
}

/** The time of the oldest event without a position. Undefined if all events have positions. */
export async function findOldestUnplaced(db: Reader): Promise<Date | undefined> {
  const [row] = await db<{ at: Date }[]>`
    select e.at from events e
    where e.batch = (select batch from outbox order by batch limit 1) and e.ordinal = 0`;
  return row?.at;
}

/**
 * Gives the next positions to the events of at most `limit` committed batches, in the order of batch numbers. Returns the number of these
 * batches. The same statement notifies all nodes of the changed objects and of the feeds with new events, and empties the outbox, so one
 * commit does all three.
 *
 * Only the holder of the lease can commit the statement. The next holder waits for the lock on the lease's row, and a former holder finds
 * another fencing number there. So only one node gives positions at a time, and each run sees the positions of the previous run. A later
 * event of an object has a batch with a greater number, and is committed after the earlier event, so it never gets a lower position.
 *
 * With `notesWal`, the present position of the write-ahead log is stored. A commit is visible only after it is written to that log, so this
 * position lies behind the commits of all these batches.
 */
export function placeEvents(
  { name, fencing }: Lease,
  { limit, notesWal = false }: PlacingTerms,
): SingleStatement<number> {
  return {
    draft: (sql) => sql`
      with held as materialized (
        select from leases where name = ${name} and fencing = ${fencing} for share
      ), taken as (
        delete from outbox
        where batch = any(array(select batch from outbox order by batch limit ${limit})) and exists (select from held)
        returning batch, partner_id, mode, size, objects
      ), placed as (
        insert into event_batches (position, batch, partner_id, mode, size, wal)
        select first.position + sum(t.size) over (order by t.batch) - t.size, t.batch, t.partner_id, t.mode, t.size,
          ${notesWal ? sql`pg_current_wal_lsn()` : sql`null::pg_lsn`}
        from taken t, (
          select coalesce((select position + size from event_batches order by position desc limit 1), 1) as position
        ) first
        returning batch
      ), changed as (
        select id, (row_number() over () - 1) / ${IDS_PER_MESSAGE}::int as message
        from (select unnest(objects) as id from taken union select partner_id || '/' || mode from taken) names
      ), messages as (
        select string_agg(id, ',') as ids from changed group by message
      ), notified as (
        select pg_notify(${EVENTS_CHANNEL}, ids) from messages
      )
      select (select count(*)::int from placed) as placed, (select count(*)::int from notified) as messages`,
    read: ([row]) => Number(row?.placed),
    appendsEvents: false,
  };
}
