import type { Owner } from '../parties/merchants.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import type { Lease } from '../plumbing/leases.ts';
import type { SingleStatement } from '../plumbing/single-statement.ts';
import { isServed, isSubscribed } from './subscription.ts';

/** The channel that notifies every node of new webhook deliveries. */
export const DELIVERIES_CHANNEL = 'till_webhooks';

/** The largest number of event batches in a round. Rounds must be short: deliveries begin after them. A batch has up to 1,000 events. */
const MAX_BATCHES = 500;
const MAX_EVENTS = 2_000;

/**
 * Creates the webhook deliveries of the next events, and moves the cursor past these events. A single statement does both, so that a crash
 * leaves both or neither. Every event with a position gets one delivery for each endpoint that is subscribed to it at this moment. Only the
 * holder of the lease can commit the statement. Batches of events are taken whole, so a round may exceed `most`. Returns the number of
 * events.
 */
export function fanOutEvents(
  { name, fencing }: Lease,
  { now, most = MAX_EVENTS }: { readonly now: Date; readonly most?: number | undefined },
): SingleStatement<number> {
  return {
    draft: (sql) => sql`
      with held as materialized (
        select from leases where name = ${name} and fencing = ${fencing} for share
      ), reached as materialized (
        select position from webhook_cursor where exists (select from held) for update
      ), later as (
        select position, batch, size, partner_id, mode, sum(size) over (order by position) - size as before
        from (
          select position, batch, size, partner_id, mode from event_batches
          where position > (select position from reached) order by position limit ${MAX_BATCHES}
        ) next
      ), taken as materialized (
        select position, batch, size, partner_id, mode from later where before < ${most}
      ), added as (
        insert into webhook_deliveries (endpoint_id, event_id, created_at, begun_at, due_at)
        select w.id, e.id, ${now}, ${now}, ${now}
        from taken b
        join webhook_endpoints w on w.partner_id = b.partner_id and w.mode = b.mode and w.status = 'active'
        join events e on e.batch = b.batch
        where ${isSubscribed(sql)}
        on conflict do nothing
        returning endpoint_id
      ), moved as (
        update webhook_cursor set position = (select max(position + size - 1) from taken)
        where exists (select from taken)
      ), notified as (
        select pg_notify(${DELIVERIES_CHANNEL}, '') where exists (select from added)
      )
      select (select coalesce(sum(size), 0)::int from taken) as events, (select count(*)::int from notified) as messages`,
    read: ([row]) => Number(row?.events),
    appendsEvents: false,
  };
}

/** A replay: the request to deliver to an endpoint all its events since a time again. */
export interface Replay {
  readonly endpointId: string;
  /** The range of positions: `after` does not belong to it, and `until` does. */
  readonly after: number;
  readonly until: number;
  readonly since: Date;
}

/** Stores a replay request. If a replay of the endpoint is already in progress, it is extended. */
export async function startReplay(tx: Tx, { endpointId, after, until, since }: Replay): Promise<void> {
  await tx`
    update webhook_endpoints
    set replay_after = least(replay_after, ${after}::bigint), replay_until = ${until}::bigint,
      replay_since = least(replay_since, ${since})
    where id = ${endpointId}`;
}

/**
 * Takes the replay request that has waited longest for its turn. Partners take turns, then the merchants of a partner, then endpoints, so
 * that a partner that orders many replays delays only itself. Only one caller takes requests at a time.
 */
export async function takeReplay(tx: Tx, now: Date): Promise<(Replay & Owner) | undefined> {
  const [next] = await tx<{ id: string }[]>`
    select w.id
    from webhook_endpoints w
    cross join lateral (
      select max(o.replayed_at) as of_partner,
        max(o.replayed_at) filter (where o.merchant_ids is not distinct from w.merchant_ids) as of_merchants
      from webhook_endpoints o where o.partner_id = w.partner_id
    ) served
    where w.replay_after is not null and ${isServed(tx)}
    order by served.of_partner nulls first, served.of_merchants nulls first, w.replayed_at nulls first, w.id limit 1`;
  if (next === undefined) return undefined;
  const [row] = await tx<(Omit<Replay, 'after' | 'until'> & Owner & { after: string; until: string })[]>`
    update webhook_endpoints set replayed_at = ${now}
    where id = ${next.id} and replay_after is not null and status = 'active'
    returning id as "endpointId", partner_id as "partnerId", mode, replay_after as after, replay_until as until,
      replay_since as since`;
  return row && { ...row, after: Number(row.after), until: Number(row.until) };
}

/**
 * Creates the deliveries of the next events of a replay, or makes them due again. Deliveries whose attempt is in progress stay unchanged.
 */
export async function replayEvents(tx: Tx, replay: Replay & Owner, now: Date): Promise<void> {
  const { endpointId, after, until, since, partnerId, mode } = replay;
  await tx`
    with later as (
      select position, batch, size, sum(size) over (order by position) - size as before
      from (
        select position, batch, size from event_batches
        where partner_id = ${partnerId} and mode = ${mode} and position > ${after} and position <= ${until}
        order by position limit ${MAX_BATCHES}
      ) next
    ), taken as materialized (
      select position, batch, size from later where before < ${MAX_EVENTS}
    ), moved as (
      update webhook_endpoints w
      set replay_after = last.position, replay_until = case when last.position is null then null else w.replay_until end,
        replay_since = case when last.position is null then null else w.replay_since end
      from (select max(position + size - 1) as position from taken) last
      where w.id = ${endpointId}
    )
    insert into webhook_deliveries as d (endpoint_id, event_id, created_at, begun_at, due_at)
    select w.id, e.id, ${now}, ${now}, ${now}
    from taken b join webhook_endpoints w on w.id = ${endpointId} join events e on e.batch = b.batch
    where e.at >= ${since} and ${isSubscribed(tx)} and e.type <> 'webhook_endpoint.test'
    on conflict (endpoint_id, event_id) do update
      set status = 'pending', begun_at = excluded.begun_at, due_at = least(d.due_at, excluded.due_at), tries = 0,
        is_claimed = false
      where not (d.status = 'pending' and d.is_claimed)`;
}

/** The longest time between an event's `at` and its commit. All nodes use the clock of the database. */
const MARGIN_MS = 10 * 60_000;
/** The largest number of steps of the binary search. It is enough for any number of positions. */
const MAX_STEPS = 64;

/** A position before all events of the partner since `since`. Positions grow with time, except for differences up to the margin. */
export async function findPositionBefore(db: Reader, { partnerId, mode }: Owner, since: Date): Promise<number> {
  const at = new Date(since.getTime() - MARGIN_MS);
  let low = 0;
  let high = Number.MAX_SAFE_INTEGER;
  const last = await db<{ position: string }[]>`
    select position from event_batches where partner_id = ${partnerId} and mode = ${mode}
    order by position desc limit 1`;
  high = Number(last[0]?.position ?? 0);
  for (let step = 0; step < MAX_STEPS && low < high; step += 1) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await db<{ position: string; isBefore: boolean }[]>`
      select b.position, e.at < ${at} as "isBefore"
      from (
        select position, batch from event_batches
        where partner_id = ${partnerId} and mode = ${mode} and position > ${middle} order by position limit 1
      ) b join events e on e.batch = b.batch and e.ordinal = 0`;
    if (row?.isBefore) low = Number(row.position);
    else high = middle;
  }
  return Math.max(0, low - 1);
}
