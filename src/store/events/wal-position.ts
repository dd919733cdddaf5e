import type { Reader } from '../plumbing/database.ts';
import type { FeedView } from './partner-feed.ts';

/** With more batches than this without a position, a replica must have everything. */
const MAX_WAITING = 1_000;

/**
 * How much of the write-ahead log a replica must have replayed to show every event of the partner. Only the primary knows it.
 *
 * The placer noted the position of the log with each batch. For events that are committed and not placed yet, and for batches
 * without a note, it is the present end of the log. A database that was restored into another server has notes of another log,
 * which may be ahead of this one.
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
