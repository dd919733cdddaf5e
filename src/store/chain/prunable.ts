import type { Reader, Tx } from '../plumbing/database.ts';
import { isGivenUp } from './former-sends.ts';

/** The number and the size of the rows that may be pruned. */
export interface Prunable {
  readonly rows: number;
  readonly bytes: number;
}

/** The result of pruning one page. `last` is the key after which the next page begins. Undefined after the last page. */
export interface PrunedPage<Place> {
  readonly rows: number;
  readonly last: Place | undefined;
}

interface PageAsk<Place> {
  readonly after: Place | undefined;
  readonly before: Date;
  readonly limit: number;
}

export interface SendPlace {
  readonly network: string;
  readonly signer: string;
  readonly slot: string;
}

/**
 * The SQL condition that the books have an entry since `before` about the mined transaction of the send `s`. Its cost is booked when the
 * send becomes final, so such a send has not been final for long. A send without cost has no entry: then its creation alone decides.
 */
function endedSince(db: Reader, before: Date) {
  return db`exists (select from book_entries b where b.reference = s.final_hash and b.at >= ${before})`;
}

/**
 * The SQL condition that the bytes of the send `s` are never broadcast again: it was created and became final before `before`. Sends
 * that were given up are left out: their slots are free, and their relayer broadcasts the bytes if its key comes back.
 */
function isOver(db: Reader, before: Date) {
  return db`s.state = 'final' and not (${isGivenUp(db)}) and s.created_at < ${before} and not ${endedSince(db, before)}`;
}

/** Signed transactions whose bytes are never broadcast again. */
export async function countFinalBytes(db: Reader, before: Date): Promise<Prunable> {
  const rows = await db<Prunable[]>`
    select count(*)::int as rows, coalesce(sum(length(v.bytes)), 0)::float8 as bytes
    from relay_versions v join relay_sends s using (network, signer, slot)
    where ${isOver(db, before)} and v.bytes <> ''`;
  return rows[0] ?? NOTHING;
}

/** Empties the stored bytes of final transactions in one page of slots. Hashes, offers and costs stay. */
export async function clearFinalBytes(tx: Tx, { after, before, limit }: PageAsk<SendPlace>) {
  const { network, signer, slot } = after ?? { network: '', signer: '', slot: '-1' };
  const [row] = await tx<{ rows: number; read: number; last: SendPlace | null }[]>`
    with page as (
      select network, signer, slot, state, created_at, final_hash, work_spent from relay_sends
      where (network, signer, slot) > (${network}, ${signer}, ${slot}::bigint)
      order by network, signer, slot limit ${limit}
    ), cleared as (
      update relay_versions v set bytes = '' from page s
      where v.network = s.network and v.signer = s.signer and v.slot = s.slot
        and ${isOver(tx, before)} and v.bytes <> '' returning 1
    )
    select (select count(*)::int from cleared) as rows, (select count(*)::int from page) as read,
      (select jsonb_build_object('network', network, 'signer', signer, 'slot', slot::text) from page
        order by network desc, signer desc, slot desc limit 1) as last`;
  return pageOf(row, limit);
}

export interface EventPlace {
  readonly network: string;
  readonly block: string;
  readonly hash: string;
  readonly index: number;
}

/** Refusals of items by a contract that were decided before `before`. Their events moved no money, and no decision uses them. */
export async function countRefusedEvents(db: Reader, before: Date): Promise<Prunable> {
  const rows = await db<Prunable[]>`
    select count(*)::int as rows, coalesce(sum(pg_column_size(e.*)), 0)::float8 as bytes
    from chain_events e where type = 'refused' and decided_at < ${before}`;
  return rows[0] ?? NOTHING;
}

/** Deletes the refusals in one page of events. */
export async function deleteRefusedEvents(tx: Tx, { after, before, limit }: PageAsk<EventPlace>) {
  const { network, block, hash, index } = after ?? { network: '', block: '-1', hash: '', index: -1 };
  const [row] = await tx<{ rows: number; read: number; last: EventPlace | null }[]>`
    with page as (
      select network, block_number, transaction_hash, log_index, type, decided_at from chain_events
      where (network, block_number, transaction_hash, log_index) > (${network}, ${block}::bigint, ${hash}, ${index}::int)
      order by network, block_number, transaction_hash, log_index limit ${limit}
    ), gone as (
      delete from chain_events e using page p
      where e.network = p.network and e.transaction_hash = p.transaction_hash and e.log_index = p.log_index
        and p.type = 'refused' and p.decided_at < ${before} returning 1
    )
    select (select count(*)::int from gone) as rows, (select count(*)::int from page) as read,
      (select jsonb_build_object('network', network, 'block', block_number::text, 'hash', transaction_hash,
          'index', log_index) from page
        order by network desc, block_number desc, transaction_hash desc, log_index desc limit 1) as last`;
  return pageOf(row, limit);
}

const NOTHING: Prunable = { rows: 0, bytes: 0 };

function pageOf<Place>(
  row: { readonly rows: number; readonly read: number; readonly last: Place | null } | undefined,
  limit: number,
): PrunedPage<Place> {
  const isLast = row === undefined || row.read < limit;
  return { rows: row?.rows ?? 0, last: isLast ? undefined : (row.last ?? undefined) };
}
