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

/** A question for the events of a view after a position. */
export interface FeedAsk extends FeedView {
  readonly after: number;
  readonly limit: number;
}

interface Batch {
  /** The number of the ask. */
  readonly ask: number;
  readonly position: string;
  readonly batch: string;
  readonly size: number;
}

/**
 * Events after a position, in the order of their positions, for each ask. A page can be empty although more events follow:
 * its position then tells how far it has looked.
 */
export async function readFeeds(db: Reader, asks: readonly FeedAsk[]): Promise<FeedPage[]> {
  const batches = Map.groupBy(await findBatches(db, asks), ({ ask }) => ask);
  const rows = batches.size === 0 ? [] : await findRows(db, asks, batches);
  const events = Map.groupBy(rows, ({ ask }) => ask);
  return asks.map((ask, index) => pageOf(ask, batches.get(index) ?? [], events.get(index) ?? []));
}

function findBatches(db: Reader, asks: readonly FeedAsk[]): Promise<Batch[]> {
  return db<Batch[]>`
    select a.number::int - 1 as ask, b.position, b.batch, b.size
    from unnest(
      ${asks.map(({ partnerId }) => partnerId)}::text[], ${asks.map(({ mode }) => mode)}::text[],
      ${asks.map(({ after }) => String(after))}::bigint[]
    ) with ordinality as a(partner_id, mode, after, number)
    cross join lateral (
      select position, batch, size from (
        select position, batch, size, sum(size) over (order by position) - size as before from event_batches
        where partner_id = a.partner_id and mode = a.mode and position > a.after - ${MAX_BATCH}::int
          and position + size - 1 > a.after
        order by position limit ${MAX_SCANNED}::int
      ) later
      where before < ${MAX_SCANNED}::int
    ) b
    order by ask, b.position`;
}

type AskedRow = PlacedRow & { readonly ask: number };

function findRows(
  db: Reader,
  asks: readonly FeedAsk[],
  batches: ReadonlyMap<number, readonly Batch[]>,
): Promise<AskedRow[]> {
  const wanted = [...batches].map(([ask, some]) => {
    const { after, limit, types, merchantIds } = asks[ask] as FeedAsk;
    return { ask, after, most: limit, types, merchants: merchantIds, batches: some.map(({ batch }) => Number(batch)) };
  });
  return db<AskedRow[]>`
    select a.ask, e.*
    from jsonb_to_recordset(${db.json(wanted)}) as a(
      ask int, after bigint, most int, types text[], merchants text[], batches bigint[])
    cross join lateral (
      select ${placedColumns(db)}
      from event_batches b join events e on e.batch = b.batch
      where b.batch = any(a.batches) and b.position + e.ordinal > a.after and e.type = any(a.types)
        and (a.merchants is null or e.merchant_id = any(a.merchants))
      order by b.position, e.ordinal limit a.most
    ) e
    order by a.ask, e.position`;
}

function pageOf({ after, limit }: FeedAsk, batches: readonly Batch[], rows: readonly AskedRow[]): FeedPage {
  const last = batches.at(-1);
  if (last === undefined) return { events: [], position: after, hasMore: false };
  const events = rows.map(({ ask: _, ...row }) => placedEvent(row));
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
