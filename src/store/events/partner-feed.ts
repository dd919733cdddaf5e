import type { EventType } from '../../domain/event.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Reader } from '../plumbing/database.ts';
import { MAX_BATCH, type PlacedEvent, type PlacedRow, placedColumns, placedEvent } from './events.ts';

/** The events that a caller may see: those of some types, of some or all merchants of a partner. */
export interface FeedView {
  readonly partnerId: string;
  readonly mode: Mode;
  /** The merchants whose events are visible. Null for all merchants of the partner. */
  readonly merchantIds: readonly string[] | null;
  readonly types: readonly EventType[];
}

export interface FeedPage {
  readonly events: readonly PlacedEvent[];
  /** The position up to which every visible event is in this page or an earlier one. */
  readonly position: number;
  /** True if the partner may have further events, whether visible or not. */
  readonly hasMore: boolean;
}

/** The largest number of events that a page scans, so that a filter that matches few events stays cheap. */
const MAX_SCANNED = 5_000;

export interface FeedAsk extends FeedView {
  readonly after: number;
  readonly limit: number;
}

/** A row of the answer of `readFeeds`, one for each event of a page. An empty page has one row without an event. */
type FeedRow = (PlacedRow | { readonly id: null }) & {
  /** The index in `asks` of the request that the row answers. */
  readonly ask: number;
  /** The position of the last scanned event. `scanned` is the number of scanned events. Both are null if no event was scanned. */
  readonly last: string | null;
  readonly scanned: string | null;
};

/**
 * A page for each request: the visible events after a position, in the order of positions. A page can be empty although visible events
 * follow later. Its position then shows how far the statement has scanned.
 */
export async function readFeeds(db: Reader, asks: readonly FeedAsk[]): Promise<FeedPage[]> {
  const rows = await db<FeedRow[]>`
    select a.number - 1 as ask, s.last, s.scanned, e.*
    from jsonb_to_recordset(${db.json(asks.map((ask, index) => ({ ...ask, number: index + 1 })))}) as a(
      number int, "partnerId" text, mode text, after bigint, "limit" int, types text[], "merchantIds" text[])
    cross join lateral (
      select array_agg(batch) as batches, max(position + size - 1) as last, sum(size) as scanned
      from (
        select position, batch, size, sum(size) over (order by position) - size as before from event_batches
        where partner_id = a."partnerId" and mode = a.mode and position > a.after - ${MAX_BATCH}::int
          and position + size - 1 > a.after
        order by position limit ${MAX_SCANNED}::int
      ) later
      where before < ${MAX_SCANNED}::int
    ) s
    left join lateral (
      select ${placedColumns(db)}
      from event_batches b join events e on e.batch = b.batch
      where b.batch = any(s.batches) and b.position + e.ordinal > a.after and e.type = any(a.types)
        and (a."merchantIds" is null or ${concernsMerchants(db, db`a."merchantIds"`)})
      order by b.position, e.ordinal limit a."limit"
    ) e on true
    order by a.number, e.position`;
  const rowsOf = Map.groupBy(rows, ({ ask }) => ask);
  return asks.map((ask, index) => pageOf(ask, rowsOf.get(index) ?? []));
}

function pageOf({ after, limit }: FeedAsk, rows: readonly FeedRow[]): FeedPage {
  const [first] = rows;
  if (first === undefined || first.last === null) return { events: [], position: after, hasMore: false };
  const events = rows.flatMap(({ ask: _, last: __, scanned: ___, ...row }) =>
    row.id === null ? [] : [placedEvent(row)],
  );
  const lastOfPage = events.length === limit ? events.at(-1)?.position : undefined;
  return {
    events,
    position: lastOfPage ?? Number(first.last),
    hasMore: lastOfPage !== undefined || Number(first.scanned) >= MAX_SCANNED,
  };
}

/** The largest number of event batches that are scanned for a page of older events. */
const MAX_BATCHES_BACK = 500;

/** Visible events before a position, the newest first. A page can be empty: its position then shows how far the statement has scanned. */
export async function readFeedBack(
  db: Reader,
  { before, limit, ...view }: FeedView & { readonly before: number; readonly limit: number },
): Promise<FeedPage> {
  const batches = await db<{ batch: string; position: string }[]>`
    select batch, position from event_batches
    where partner_id = ${view.partnerId} and mode = ${view.mode} and position < ${before}
    order by position desc limit ${MAX_BATCHES_BACK}`;
  const first = batches.at(-1);
  if (first === undefined) return { events: [], position: 0, hasMore: false };
  const rows = await db<PlacedRow[]>`
    select ${placedColumns(db)}
    from event_batches b join events e on e.batch = b.batch
    where b.batch = any(${batches.map(({ batch }) => batch)}) and b.position + e.ordinal < ${before} and ${isSeen(db, view)}
    order by b.position desc, e.ordinal desc limit ${limit}`;
  const events = rows.map(placedEvent);
  const lastOfPage = events.length === limit ? events.at(-1)?.position : undefined;
  return {
    events,
    position: lastOfPage ?? Number(first.position),
    hasMore: lastOfPage !== undefined || batches.length === MAX_BATCHES_BACK,
  };
}

/** The event with this id, if it has a position and is visible. */
export async function findFeedEvent(db: Reader, id: string, view: FeedView): Promise<PlacedEvent | undefined> {
  const [row] = await db<PlacedRow[]>`
    select ${placedColumns(db)}
    from events e join event_batches b on b.batch = e.batch
    where e.id = ${id} and b.partner_id = ${view.partnerId} and b.mode = ${view.mode} and ${isSeen(db, view)}`;
  return row && placedEvent(row);
}

/** The position of the partner's newest event, or 0 if there is none. */
export async function lastPositionOf(db: Reader, { partnerId, mode }: Pick<FeedView, 'partnerId' | 'mode'>) {
  const [row] = await db<{ position: string }[]>`
    select position + size - 1 as position from event_batches
    where partner_id = ${partnerId} and mode = ${mode} order by event_batches.position desc limit 1`;
  return Number(row?.position ?? 0);
}

/** The position of the newest event of all partners, or 0 if there is none. */
export async function lastPosition(db: Reader): Promise<number> {
  const [row] = await db<{ position: string }[]>`
    select position + size - 1 as position from event_batches order by event_batches.position desc limit 1`;
  return Number(row?.position ?? 0);
}

/**
 * The SQL condition that the event `e` is about merchants that the caller may see. A webhook endpoint may belong to several merchants. Its
 * events are visible only to callers that may see all of them.
 */
export function concernsMerchants<Fragment>(
  sql: (text: TemplateStringsArray, ...values: Fragment[]) => Fragment,
  merchantIds: Fragment,
): Fragment {
  return sql`(e.merchant_id = any(${merchantIds}) or (e.type like 'webhook\\_endpoint.%'
    and jsonb_typeof(e.data->'merchantIds') = 'array' and e.data->'merchantIds' <@ to_jsonb(${merchantIds})))`;
}

function isSeen(db: Reader, { merchantIds, types }: FeedView) {
  const isOfMerchants = merchantIds === null ? db`true` : concernsMerchants(db, db`${merchantIds as string[]}::text[]`);
  return db`e.type = any(${types as string[]}::text[]) and ${isOfMerchants}`;
}
