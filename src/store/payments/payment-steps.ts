import { TIME_LIMITS_S } from '../../domain/time-to-pay.ts';
import type { Owner } from '../parties/merchants.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import type { Fragment } from './payment-filter.ts';

/** A step of a payer: the checkout was opened, options were read, the payment was signed, the payment was paid. */
export type PaymentStep = 'opened' | 'options' | 'signed' | 'paid';

/** Records the times at which the checkout of payments was first opened, by payment id. Later openings change nothing. */
export async function recordOpenings(tx: Tx, times: ReadonlyMap<string, Date>): Promise<void> {
  await tx`
    insert into payment_visits (payment_id, opened_at)
    select * from unnest(${[...times.keys()]}::text[], ${timesOf(times)}::timestamptz[]) as v(id, at) order by v.id
    on conflict (payment_id) do nothing`;
}

/** Records the times at which the options of payments were first read. A payment without an opening gets the same time as its opening. */
export async function recordOptions(tx: Tx, times: ReadonlyMap<string, Date>): Promise<void> {
  await tx`
    insert into payment_visits (payment_id, opened_at, options_at)
    select v.id, v.at, v.at
    from unnest(${[...times.keys()]}::text[], ${timesOf(times)}::timestamptz[]) as v(id, at) order by v.id
    on conflict (payment_id) do update set options_at = excluded.options_at where payment_visits.options_at is null`;
}

function timesOf(times: ReadonlyMap<string, Date>): string[] {
  return [...times.values()].map((time) => time.toISOString());
}

export interface StepRound {
  /** The largest number of checkout openings that a round counts. `batches` is the largest number of event batches that it counts. */
  readonly visits: number;
  readonly batches: number;
}

/**
 * Counts new openings and the next events, and returns true if there may be more of them. The cursor moves in the same database
 * transaction, so each event counts once, even after a crash. Only one node counts at a time.
 */
export async function foldSteps(tx: Tx, { visits, batches }: StepRound): Promise<boolean> {
  const [cursor] = await tx<{ position: string }[]>`select position from step_cursor for update skip locked`;
  if (cursor === undefined) return false;
  const counted = await foldVisits(tx, visits);
  const rows = await tx<{ placed: number; last: string | null }[]>`
    with placed as materialized (
      select position, batch, size, partner_id, mode from event_batches
      where position > ${cursor.position} order by position limit ${batches}
    ), reached as (
      select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date as day, s.step,
        case s.step when 'paid' then (
          select min(l.limit_s) from unnest(${TIME_LIMITS_S.map(String)}::int[]) as l(limit_s)
          where l.limit_s >= extract(epoch from e.at - p.created_at)
        ) else 0 end as within_s
      from placed b
      join events e on e.batch = b.batch and e.type in ('payment.processing', 'payment.succeeded')
      join payments p on p.id = e.object_id
      cross join lateral (
        select 'signed' as step where not exists (
          select from events o where o.object_id = e.object_id and o.sequence < e.sequence
            and o.type in ('payment.processing', 'payment.succeeded'))
        union all
        select 'paid' where e.type = 'payment.succeeded' and not exists (
          select from events o where o.object_id = e.object_id and o.sequence < e.sequence
            and o.type = 'payment.succeeded')
      ) s
    ), added as (${addSteps(tx, tx`reached`)}), moved as (
      update step_cursor set position = last.position
      from (select max(position + size - 1) as position from placed) last where last.position is not null
    )
    select count(*)::int as placed, max(position)::text as last from placed`;
  return counted === visits || one(rows).placed === batches;
}

async function foldVisits(tx: Tx, limit: number): Promise<number> {
  const rows = await tx<{ visits: number }[]>`
    with uncounted as (
      select payment_id, counted from payment_visits
      where counted < case when options_at is null then 1 else 2 end limit ${limit} for update
    ), visited as (
      update payment_visits v set counted = case when v.options_at is null then 1 else 2 end
      from uncounted u where v.payment_id = u.payment_id
      returning v.payment_id, u.counted as had, v.counted as has
    ), reached as (
      select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date as day, s.step, 0 as within_s
      from visited v join payments p on p.id = v.payment_id
      cross join lateral (values (1, 'opened'), (2, 'options')) as s(number, step)
      where s.number > v.had and s.number <= v.has
    ), added as (${addSteps(tx, tx`reached`)})
    select count(*)::int as visits from visited`;
  return one(rows).visits;
}

/** The SQL statement that adds steps to the totals of their merchants and partners. */
function addSteps(tx: Tx, reached: Fragment): Fragment {
  return tx`
    insert into payment_day_steps (partner_id, mode, merchant_id, day, step, within_s, payments)
    select r.partner_id, r.mode, o.merchant_id, r.day, r.step, r.within_s, count(*)
    from ${reached} r cross join lateral (values (r.merchant_id), ('')) as o(merchant_id)
    group by r.partner_id, r.mode, o.merchant_id, r.day, r.step, r.within_s
    order by r.partner_id, r.mode, o.merchant_id, r.day, r.step, r.within_s
    on conflict (partner_id, mode, merchant_id, day, step, within_s)
      do update set payments = payment_day_steps.payments + excluded.payments`;
}

/** Deletes at most `limit` recorded openings from before `before`, and returns their number. By then the payments have ended. */
export async function pruneVisits(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from payment_visits where ctid = any(array(
      select ctid from payment_visits where opened_at < ${before} order by opened_at limit ${limit}
      for update skip locked))`;
  return count;
}

export interface StepRange extends Owner {
  /** The merchants whose steps are counted. Null for all merchants of the owner. */
  readonly merchantIds: readonly string[] | null;
  /** The first day (UTC) of the range. `fromDay` and `untilDay` both belong to the range. */
  readonly fromDay: string;
  readonly untilDay: string;
}

export interface StepCount {
  readonly step: PaymentStep;
  readonly withinS: number;
  readonly payments: number;
}

export async function countSteps(db: Reader, range: StepRange): Promise<StepCount[]> {
  const { partnerId, mode, merchantIds, fromDay, untilDay } = range;
  const rows = await db<{ step: PaymentStep; withinS: number; payments: string }[]>`
    select step, within_s as "withinS", sum(payments) as payments from payment_day_steps
    where partner_id = ${partnerId} and mode = ${mode} and merchant_id = any(${(merchantIds ?? ['']) as string[]}::text[])
      and day between ${fromDay}::date and ${untilDay}::date
    group by step, within_s order by step, within_s`;
  return rows.map(({ payments, ...row }) => ({ ...row, payments: Number(payments) }));
}
