import type { EventType } from '../../domain/event.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Reader } from '../plumbing/database.ts';
import { MAX_BATCH, type PlacedEvent, type PlacedRow, placedColumns, placedEvent } from './events.ts';

/** The events that a caller may see. */
export interface FeedView {
  readonly partnerId: string;
  readonly mode: Mode;
  /** Null: all merchants. */
  readonly merchantIds: readonly string[] | null;
  readonly types: readonly EventType[];
}

export interface FeedPage {
  readonly events: readonly PlacedEvent[];
  /** Events up to this position are in this page or an earlier one, or are not in the view. */
  readonly position: number;
  /** There are later events of the partner, in the view or not. */
  readonly hasMore: boolean;
}

/** A page looks through this many events at most, so that a filter that matches few of them stays cheap. */
const MAX_SCANNED = 5_000;

interface Batch {
  readonly position: string;
  readonly batch: string;
  readonly size: number;
}

/**
 * Events after a position, in the order of their positions. A page can be empty although more events follow: its
 * position then tells how far it has looked.
 */
export async function readFeed(
  db: Reader,
  { after, limit, ...view }: FeedView & { readonly after: number; readonly limit: number },
): Promise<FeedPage> {
  const batches = await db<Batch[]>`
    select position, batch, size from (
      select position, batch, size, sum(size) over (order by position) - size as before from event_batches
      where partner_id = ${view.partnerId} and mode = ${view.mode} and position > ${after - MAX_BATCH}
        and position + size - 1 > ${after}
      order by position limit ${MAX_SCANNED}
    ) later
    where before < ${MAX_SCANNED} order by position`;
  const last = batches.at(-1);
  if (last === undefined) return { events: [], position: after, hasMore: false };
  const rows = await db<PlacedRow[]>`
    select ${placedColumns(db)}
    from event_batches b join events e on e.batch = b.batch
    where b.batch = any(${batches.map(({ batch }) => batch)}::bigint[]) and b.position + e.ordinal > ${after}
      and ${isSeen(db, view)}
    order by b.position, e.ordinal limit ${limit}`;
  const events = rows.map(placedEvent);
  const lastOfPage = events.length === limit ? events.at(-1)?.position : undefined;
  const scanned = batches.reduce((sum, { size }) => sum + size, 0);
  return {
    events,
    position: lastOfPage ?? Number(last.position) + last.size - 1,
    hasMore: lastOfPage !== undefined || scanned >= MAX_SCANNED,
  };
}

/** The event, if it has a position and is in the view. */
export async function findFeedEvent(db: Reader, id: string, view: FeedView): Promise<PlacedEvent | undefined> {
  const [row] = await db<PlacedRow[]>`
    select ${placedColumns(db)}
    from events e join event_batches b on b.batch = e.batch
    where e.id = ${id} and b.partner_id = ${view.partnerId} and b.mode = ${view.mode} and ${isSeen(db, view)}`;
  return row && placedEvent(row);
}

/** The position of the newest event; 0 if there is none. */
export async function lastPosition(db: Reader): Promise<number> {
  const [row] = await db<{ position: string }[]>`
    select position + size - 1 as position from event_batches order by event_batches.position desc limit 1`;
  return Number(row?.position ?? 0);
}

function isSeen(db: Reader, { merchantIds, types }: FeedView) {
  const isOfMerchants = merchantIds === null ? db`true` : db`e.merchant_id = any(${merchantIds as string[]}::text[])`;
  return db`e.type = any(${types as string[]}::text[]) and ${isOfMerchants}`;
}
