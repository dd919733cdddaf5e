import type { Reader } from '../plumbing/database.ts';
import type { FeedView } from './partner-feed.ts';

/** The largest number of batches without a position that are examined. If there are more, a replica must have replayed the whole log. */
const MAX_WAITING = 1_000;

/**
 * The position in the write-ahead log up to which a replica must have replayed, so that it shows every event of the partner. Only the
 * primary knows this position.
 *
 * The placer stores the log position with each batch of events. For committed events that have no position among all events yet, and for
 * batches without a stored log position, the present end of the log is returned. If the database was restored into another server, the
 * stored positions are of another log, and may be beyond the end of this one. Then the end of this log is returned, too.
 */
export async function findWalPosition(
  db: Reader,
  { partnerId, mode }: Pick<FeedView, 'partnerId' | 'mode'>,
): Promise<bigint> {
  const [row] = await db<{ position: string }[]>`
    with waiting as (
      select partner_id, mode from outbox order by batch limit ${MAX_WAITING}
    ), newest as (
      select wal from event_batches where partner_id = ${partnerId} and mode = ${mode} order by position desc limit 1
    )
    select pg_wal_lsn_diff(
      case
        when (select count(*) from waiting) = ${MAX_WAITING}
          or exists (select from waiting where partner_id = ${partnerId} and mode = ${mode}) then present.lsn
        when exists (select from newest) then least(coalesce((select wal from newest), present.lsn), present.lsn)
        else '0/0'
      end, '0/0')::text as position
    from (select pg_current_wal_lsn() as lsn) present`;
  return BigInt(row?.position ?? '0');
}
