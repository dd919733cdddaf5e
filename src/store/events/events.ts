import type { EventType } from '../../domain/event.ts';
import { newId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { lineOfEvent } from '../../domain/money-line.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface NewEvent {
  /** The id of the event, from `newEventId`, if the caller needs to know it before the event is stored. */
  readonly id?: string;
  readonly type: EventType;
  readonly objectId: string;
  /** The merchant of the object. Null for objects of a partner, such as a webhook endpoint. Then `owner` is set. */
  readonly merchantId: string | null;
  readonly owner?: { readonly partnerId: string; readonly mode: Mode };
  readonly at: Date;
  /** The party that caused the change: `key:<id>`, `app:<id>`, `operator`, or the name of a worker. */
  readonly actor: string;
  /** The fields of the object that can change, with their values after the change. */
  readonly data: Facts;
  /** The proof of the change, such as a transaction on chain. Never shown to partners. */
  readonly evidence?: Facts;
}

export type Facts = Readonly<Record<string, unknown>>;

const ID_BYTES = 10;

export function newEventId({ outbox }: Tx, at: Date): string {
  return newId('evt_', at.getTime(), outbox.random.bytes(ID_BYTES));
}

/**
 * Appends events in the database transaction of the changes that they describe. An earlier statement of the transaction must have locked
 * each object. Then this statement sees the object's last event, and nobody else uses the next sequence.
 */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  tx.outbox.hasEvents = true;
  tx.outbox.money.push(...events.flatMap(lineOfEvent));
  const rows = events.map(({ objectId, merchantId, owner, ...event }, place) => ({
    ...event,
    place,
    id: event.id ?? newEventId(tx, event.at),
    object_id: objectId,
    merchant_id: merchantId,
    partner_id: owner?.partnerId,
    mode: owner?.mode,
  }));
  const [row] = await tx<{ count: number }[]>`
    with happened as (
      select coalesce(m.partner_id, i.partner_id) as partner_id, coalesce(m.mode, i.mode) as mode, i.merchant_id, i.id,
        i.type, i.object_id, i.at, i.actor, i.data, i.evidence,
        coalesce((select max(e.sequence) from events e where e.object_id = i.object_id), 0)
          + row_number() over (partition by i.object_id order by i.place) as sequence
      from jsonb_to_recordset(${tx.json(rows as never)}) as i(
        place int, id text, type text, object_id text, merchant_id text, partner_id text, mode text, at timestamptz,
        actor text, data jsonb, evidence jsonb)
      left join merchants m on m.id = i.merchant_id
      where m.id is not null or (i.merchant_id is null and i.partner_id is not null)
    ), ${appendHappened(tx)}
    select count(*)::int as count from happened`;
  if (row?.count !== events.length) throw new Error('An event is about a merchant that does not exist.');
}

/**
 * The part of an SQL statement that stores the rows of `happened` as events, in one batch for each partner and mode. Events of the same
 * object are in the order of their sequences. The outbox does not name new payments, because no client can wait for a payment that it does
 * not know.
 */
export function appendHappened<Fragment>(sql: (text: TemplateStringsArray) => Fragment): Fragment {
  return sql`
    batched as (
      insert into outbox (partner_id, mode, size, objects)
      select partner_id, mode, count(*), array_agg(object_id) filter (where type <> 'payment.created')
      from happened group by partner_id, mode order by partner_id, mode
      returning batch, partner_id, mode
    ), logged as (
      insert into events (batch, ordinal, id, type, object_id, sequence, merchant_id, at, actor, data, evidence)
      select b.batch, row_number() over (partition by b.batch order by h.sequence, h.object_id collate "C") - 1, h.id, h.type, h.object_id,
        h.sequence, h.merchant_id, h.at, h.actor, h.data, h.evidence
      from happened h join batched b on b.partner_id = h.partner_id and b.mode = h.mode
    )`;
}

export interface StoredEvent {
  readonly id: string;
  readonly type: EventType;
  readonly sequence: number;
  readonly at: Date;
  readonly actor: string;
  /** The values of the object's mutable fields after the event. Empty for the event that creates a payment. */
  readonly data: Facts;
  readonly evidence: Facts;
}

/** All events of an object, in order. Sequences have no gaps, so the list is complete even before the events have positions. */
export function listEvents(db: Reader, objectId: string): Promise<StoredEvent[]> {
  return db<StoredEvent[]>`
    select ${eventColumns(db)} from events e where e.object_id = ${objectId} order by e.sequence`;
}

/** The newest events of these objects, the newest first, and the number of all events of these objects. */
export async function findNewestEvents(
  db: Reader,
  objectIds: readonly string[],
  limit: number,
): Promise<{ readonly rows: readonly (StoredEvent & { readonly objectId: string })[]; readonly count: number }> {
  const rows = await db<(StoredEvent & { objectId: string; total: number })[]>`
    select ${eventColumns(db)}, e.object_id as "objectId", count(*) over ()::int as total from events e
    where e.object_id = any(${objectIds as string[]}::text[])
    order by e.at desc, e.sequence desc limit ${limit}`;
  return { rows: rows.map(({ total: _, ...row }) => row), count: rows[0]?.total ?? 0 };
}

/** The merchants in the events of an object. They prove the owner: events never change, and an object never changes its merchant. */
export async function findMerchantsOf(db: Reader, objectId: string): Promise<(string | null)[]> {
  const rows = await db<{ merchantId: string | null }[]>`
    select distinct merchant_id as "merchantId" from events where object_id = ${objectId}`;
  return rows.map(({ merchantId }) => merchantId);
}

/** An event with its position among the events of all objects. */
export interface PlacedEvent extends StoredEvent {
  readonly position: number;
  readonly objectId: string;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly merchantId: string | null;
}

export const MAX_BATCH = 1_000;

/** Events after a position, in order. Events that get their positions later come after all events of this page. */
export async function readEvents(
  db: Reader,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PlacedEvent[]> {
  const rows = await db<PlacedRow[]>`
    select ${placedColumns(db)}
    from event_batches b join events e on e.batch = b.batch
    where b.position > ${after - MAX_BATCH} and b.position + e.ordinal > ${after}
    order by b.position, e.ordinal limit ${limit}`;
  return rows.map(placedEvent);
}

export type PlacedRow = Omit<PlacedEvent, 'position'> & { readonly position: string };

export function placedEvent(row: PlacedRow): PlacedEvent {
  return { ...row, position: Number(row.position) };
}

/** The columns of a `PlacedRow`, for the aliases `events e` and `event_batches b`. */
export function placedColumns(db: Reader) {
  return db`b.position + e.ordinal as position, e.object_id as "objectId", b.partner_id as "partnerId", b.mode,
    e.merchant_id as "merchantId", ${eventColumns(db)}`;
}

function eventColumns(db: Reader) {
  return db`e.id, e.type, e.sequence, e.at, e.actor, coalesce(e.data, '{}') as data,
    coalesce(e.evidence, '{}') as evidence`;
}
