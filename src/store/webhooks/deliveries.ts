import type { EventType } from '../../domain/event.ts';
import type { DeliveryStatus } from '../../domain/webhook.ts';
import { type PlacedEvent, type PlacedRow, placedColumns, placedEvent } from '../events/events.ts';
import type { Owner } from '../parties/merchants.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import type { SingleStatement } from '../plumbing/single-statement.ts';
import { type Endpoint, endpointColumns } from './endpoints.ts';
import { isServed, isSubscribed } from './subscription.ts';

/**
 * The largest number of endpoints in a round, so that its memory is bounded. Other endpoints are found in later rounds, when some of these
 * have no due delivery left.
 */
const MAX_WAITING = 5_000;

/**
 * Active endpoints with due deliveries. The statement jumps from endpoint to endpoint in the index of pending deliveries. So its cost
 * depends on the number of endpoints, and not on the number of deliveries.
 */
export function listWaiting(db: Reader, now: Date): Promise<Endpoint[]> {
  return db<Endpoint[]>`
    with recursive pending as (
      (select endpoint_id from webhook_deliveries where status = 'pending' order by endpoint_id limit 1)
      union all
      select (
        select d.endpoint_id from webhook_deliveries d
        where d.status = 'pending' and d.endpoint_id > p.endpoint_id order by d.endpoint_id limit 1
      )
      from pending p where p.endpoint_id is not null
    )
    select ${endpointColumns(db)}
    from pending p join webhook_endpoints w on w.id = p.endpoint_id and ${isServed(db)}
    cross join lateral (
      -- The limit keeps this a single index lookup. As a condition, it would become a join with all due deliveries.
      select from webhook_deliveries d
      where d.endpoint_id = p.endpoint_id and d.status = 'pending' and d.due_at <= ${now} order by d.due_at limit 1
    ) due
    limit ${MAX_WAITING}`;
}

/** A delivery that this node has claimed: only this node may attempt it until the claim ends. */
export interface ClaimedDelivery {
  readonly endpointId: string;
  readonly eventId: string;
  /** The fencing number of the claim, which grows with each new claim of the delivery. */
  readonly claim: number;
  /** The number of failed attempts before this one, since the present schedule of attempts began. */
  readonly tries: number;
  readonly begunAt: Date;
}

export interface ClaimInput {
  /** The number of deliveries to claim for each endpoint. */
  readonly shares: ReadonlyMap<string, number>;
  readonly now: Date;
  readonly until: Date;
}

/**
 * Claims the deliveries of each endpoint that have been due longest, of events to which the endpoint is subscribed at this moment. If this
 * node dies, they are due again when the claim ends. Rows are selected by `ctid`. Otherwise the planner would assume that a tenth of all
 * pending deliveries is claimed, and would read the whole table in every round.
 */
export function claimDeliveries({ shares, now, until }: ClaimInput): SingleStatement<ClaimedDelivery[]> {
  return {
    draft: (sql) => sql`
      with chosen as (
        select d.ctid
        from unnest(${[...shares.keys()]}::text[], ${[...shares.values()].map(String)}::int[]) as s(endpoint_id, share)
        join webhook_endpoints w on w.id = s.endpoint_id and ${isServed(sql)}
        cross join lateral (
          select d.ctid from webhook_deliveries d join events e on e.id = d.event_id
          where d.endpoint_id = s.endpoint_id and d.status = 'pending' and d.due_at <= ${now} and ${isSubscribed(sql)}
          order by d.due_at limit s.share for update of d skip locked
        ) d
      )
      update webhook_deliveries d set due_at = ${until}, is_claimed = true, claim = claim + 1
      where d.ctid = any(array(select ctid from chosen))
      returning d.endpoint_id as "endpointId", d.event_id as "eventId", d.claim, d.tries, d.begun_at as "begunAt"`,
    read: (rows) => rows as unknown as ClaimedDelivery[],
    appendsEvents: false,
  };
}

/** Releases claims that the node does not use, so that their deliveries are due at once. */
export function releaseDeliveries(
  claims: readonly Pick<ClaimedDelivery, 'endpointId' | 'eventId' | 'claim'>[],
  now: Date,
): SingleStatement<void> {
  const rows = claims.map(({ endpointId, eventId, claim }) => ({ endpointId, eventId, claim }));
  return {
    draft: (sql) => sql`
      update webhook_deliveries d set due_at = ${now}, is_claimed = false
      from jsonb_to_recordset(${sql.json(rows)}) as c("endpointId" text, "eventId" text, claim int)
      where d.endpoint_id = c."endpointId" and d.event_id = c."eventId" and d.claim = c.claim and d.is_claimed
        and d.status = 'pending'`,
    read: () => {},
    appendsEvents: false,
  };
}

export interface AttemptResult extends Pick<ClaimedDelivery, 'endpointId' | 'eventId' | 'claim'> {
  readonly status: DeliveryStatus;
  /** The time of the next attempt. Null if the delivery is no longer pending. */
  readonly dueAt: Date | null;
  readonly attemptedAt: Date;
  readonly url: string;
  readonly answerStatus: number | null;
  readonly answer: string | null;
  readonly problem: string | null;
  readonly latencyMs: number;
  /** False if the attempt failed because of the gateway. Such a failure says nothing about the endpoint. */
  readonly isReceivers: boolean;
}

/**
 * Stores the results of attempts whose claims are still in force, and whether their endpoints are failing. Returns the failing endpoints,
 * with the time since which all their attempts have failed.
 */
export function storeResults(
  results: readonly AttemptResult[],
  now: Date,
): SingleStatement<{ endpointId: string; failingSince: Date }[]> {
  return {
    draft: (sql) => sql`
      with results as (
        select * from jsonb_to_recordset(${sql.json(results)}) as r(
          "endpointId" text, "eventId" text, claim int, status text, "dueAt" timestamptz, "attemptedAt" timestamptz,
          url text, "answerStatus" int, answer text, problem text, "latencyMs" int, "isReceivers" boolean)
      ), stored as (
        update webhook_deliveries d
        set status = r.status, due_at = r."dueAt", is_claimed = false, tries = d.tries + 1, attempts = d.attempts + 1,
          attempted_at = r."attemptedAt", url = r.url, answer_status = r."answerStatus", answer = r.answer,
          problem = r.problem, latency_ms = r."latencyMs"
        from results r
        where d.endpoint_id = r."endpointId" and d.event_id = r."eventId" and d.claim = r.claim and d.is_claimed
          and d.status = 'pending'
        returning r."endpointId", r.status, r."isReceivers"
      ), health as (
        select "endpointId", bool_or(status = 'succeeded') as is_well, bool_or("isReceivers") as is_known
        from stored group by "endpointId"
      ), recovered as (
        update webhook_endpoints w set failing_since = null
        from health h where w.id = h."endpointId" and h.is_well and w.failing_since is not null
      ), broken as (
        update webhook_endpoints w set failing_since = ${now}
        from health h where w.id = h."endpointId" and not h.is_well and h.is_known and w.failing_since is null
      )
      select h."endpointId", coalesce(w.failing_since, ${now}) as "failingSince"
      from health h join webhook_endpoints w on w.id = h."endpointId" where not h.is_well and h.is_known`,
    read: (rows) => rows as unknown as { endpointId: string; failingSince: Date }[],
    appendsEvents: false,
  };
}

/** The events with these ids, if they have positions. */
export async function findEvents(db: Reader, ids: readonly string[]): Promise<PlacedEvent[]> {
  const rows = await db<PlacedRow[]>`
    select ${placedColumns(db)} from events e join event_batches b on b.batch = e.batch
    where e.id = any(${ids}::text[])`;
  return rows.map(placedEvent);
}

/** A webhook delivery as partners see it. */
export interface Delivery {
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly dueAt: Date | null;
  readonly isClaimed: boolean;
  readonly attemptedAt: Date | null;
  readonly url: string | null;
  readonly answerStatus: number | null;
  readonly answer: string | null;
  readonly problem: string | null;
  readonly latencyMs: number | null;
}

export interface DeliveryQuery {
  readonly endpointId: string;
  readonly status: DeliveryStatus | undefined;
  /** The event of the last delivery on the page before this one. Undefined for the first page. */
  readonly before: string | undefined;
  readonly limit: number;
}

/**
 * The largest number of deliveries that a page scans. There is a limit, because an endpoint may now be subscribed to only few of
 * the events of its older deliveries.
 */
const MAX_SCANNED = 2_000;

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** The event before which the next page begins. Null on the last page. A page may be empty and still not be the last. */
  readonly next: string | null;
}

/** Deliveries of an endpoint, as far as it is still subscribed to their events, the newest events first. */
export async function listDeliveries(
  db: Reader,
  { endpointId, status, before, limit }: DeliveryQuery,
): Promise<DeliveryPage> {
  const ids = await db<{ id: string }[]>`
    select d.event_id as id from webhook_deliveries d
    where d.endpoint_id = ${endpointId} and ${status === undefined ? db`true` : db`d.status = ${status}`}
      and ${before === undefined ? db`true` : db`d.event_id < ${before}`}
    order by d.event_id desc limit ${MAX_SCANNED}`;
  const last = ids.at(-1)?.id;
  if (last === undefined) return { deliveries: [], next: null };
  const found = await db<Delivery[]>`
    select ${deliveryColumns(db)}
    from webhook_deliveries d join events e on e.id = d.event_id join webhook_endpoints w on w.id = d.endpoint_id
    where d.endpoint_id = ${endpointId} and ${status === undefined ? db`true` : db`d.status = ${status}`}
      and ${before === undefined ? db`true` : db`d.event_id < ${before}`} and d.event_id >= ${last} and ${isSubscribed(db)}
    order by d.event_id desc limit ${limit + 1}`;
  const deliveries = found.slice(0, limit);
  if (found.length > limit) return { deliveries, next: deliveries.at(-1)?.eventId ?? null };
  return { deliveries, next: ids.length < MAX_SCANNED ? null : last };
}

/** The delivery of an event to an endpoint, if the endpoint is still subscribed to the event. */
export async function findDelivery(db: Reader, endpointId: string, eventId: string): Promise<Delivery | undefined> {
  const [row] = await db<Delivery[]>`
    select ${deliveryColumns(db)}
    from webhook_deliveries d join events e on e.id = d.event_id join webhook_endpoints w on w.id = d.endpoint_id
    where d.endpoint_id = ${endpointId} and d.event_id = ${eventId} and ${isSubscribed(db)}`;
  return row;
}

/** A delivery with its last attempt, for the timeline of an object. */
export interface ShownDelivery
  extends Pick<
    Delivery,
    | 'endpointId'
    | 'eventId'
    | 'eventType'
    | 'status'
    | 'attempts'
    | 'createdAt'
    | 'dueAt'
    | 'attemptedAt'
    | 'answerStatus'
    | 'problem'
  > {
  readonly endpointUrl: string;
}

/** Deliveries of these events to the partner's endpoints that are not deleted and still subscribed to them, the newest first. */
export function findDeliveriesOf(
  db: Reader,
  { partnerId, mode }: Owner,
  { eventIds, limit }: { readonly eventIds: readonly string[]; readonly limit: number },
): Promise<ShownDelivery[]> {
  return db<ShownDelivery[]>`
    select ${deliveryColumns(db)}, w.url as "endpointUrl"
    from webhook_endpoints w cross join unnest(${eventIds as string[]}::text[]) as wanted(event_id)
    join webhook_deliveries d on d.endpoint_id = w.id and d.event_id = wanted.event_id
    join events e on e.id = d.event_id
    where w.partner_id = ${partnerId} and w.mode = ${mode} and w.status <> 'deleted' and ${isSubscribed(db)}
    order by coalesce(d.attempted_at, d.created_at) desc, d.event_id, d.endpoint_id limit ${limit}`;
}

/**
 * Makes a delivery due at once and restarts its schedule of attempts. Does nothing if the endpoint is no longer subscribed to the event, or
 * if an attempt is in progress.
 */
export async function renewDelivery(
  tx: Tx,
  { endpointId, eventId }: Pick<Delivery, 'endpointId' | 'eventId'>,
  now: Date,
): Promise<void> {
  await tx`
    update webhook_deliveries d
    set status = 'pending', due_at = ${now}, begun_at = ${now}, tries = 0, is_claimed = false
    from events e, webhook_endpoints w
    where d.endpoint_id = ${endpointId} and d.event_id = ${eventId} and not (d.status = 'pending' and d.is_claimed)
      and e.id = d.event_id and w.id = d.endpoint_id and ${isSubscribed(tx)}`;
}

export interface Pruning {
  readonly before: Date;
  readonly limit: number;
}

/** Deletes at most `limit` deliveries that were created before `before` and are not pending. Returns their number. */
export async function pruneOver(tx: Tx, { before, limit }: Pruning): Promise<number> {
  const { count } = await tx`
    delete from webhook_deliveries where ctid = any(array(
      select ctid from webhook_deliveries where status <> 'pending' and created_at < ${before}
      order by created_at limit ${limit} for update skip locked))`;
  return count;
}

/**
 * Deletes pending deliveries of deleted endpoints, and those created before `before` of endpoints that get no deliveries. Returns their
 * number.
 */
export async function pruneStopped(tx: Tx, { before, limit }: Pruning): Promise<number> {
  const { count } = await tx`
    delete from webhook_deliveries where ctid = any(array(
      select d.ctid
      from webhook_endpoints w join webhook_deliveries d on d.endpoint_id = w.id and d.status = 'pending'
      where w.status = 'deleted' or (not ${isServed(tx)} and d.created_at < ${before})
      limit ${limit} for update of d skip locked))`;
  return count;
}

/** The longest run of a fan-out statement. One that began before a subscription was narrowed may still create deliveries for it. */
const FAN_OUT_ENDS_MS = 10 * 60_000;

/**
 * Records that the subscription of an endpoint was narrowed, so that it may have pending deliveries of events to which it is no longer
 * subscribed.
 */
export async function noteNarrowed(tx: Tx, endpointId: string, now: Date): Promise<void> {
  await tx`update webhook_endpoints set narrowed_at = ${now} where id = ${endpointId}`;
}

/** Deletes at most `limit` pending deliveries of events to which narrowed endpoints are no longer subscribed. Returns their number. */
export async function pruneUnsubscribed(
  tx: Tx,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<number> {
  const { count } = await tx`
    delete from webhook_deliveries where ctid = any(array(
      select d.ctid
      from webhook_endpoints w join webhook_deliveries d on d.endpoint_id = w.id and d.status = 'pending'
      join events e on e.id = d.event_id
      where w.narrowed_at is not null and not (${isSubscribed(tx)})
      limit ${limit} for update of d skip locked))`;
  if (count < limit) {
    const before = new Date(now.getTime() - FAN_OUT_ENDS_MS);
    await tx`update webhook_endpoints set narrowed_at = null where narrowed_at < ${before}`;
  }
  return count;
}

function deliveryColumns(db: Reader) {
  return db`d.endpoint_id as "endpointId", d.event_id as "eventId", e.type as "eventType", d.status, d.attempts,
    d.created_at as "createdAt", d.due_at as "dueAt", d.is_claimed as "isClaimed", d.attempted_at as "attemptedAt",
    d.url, d.answer_status as "answerStatus", d.answer, d.problem, d.latency_ms as "latencyMs"`;
}
