import type { Decimal } from '../../domain/money.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import { matchesOf, type PaymentFilter, seenStatus } from './payment-lists.ts';

/** Totals of all payments that match a filter. */
export interface PaymentStats {
  readonly transactions: number;
  /** Different accounts that paid or tried to. */
  readonly customers: number;
  /** The priced amounts of succeeded payments without refunded ones, one sum per unit. */
  readonly revenue: readonly ({ readonly unit: string } & Decimal)[];
}

export async function readPaymentStats(db: Reader, filter: PaymentFilter): Promise<PaymentStats> {
  const { fromMs, untilMs, assets, networks, referencePart } = filter;
  const isCounted = [fromMs, untilMs, assets, networks, referencePart].every((value) => value === undefined);
  const rows = await (isCounted ? statsFromTotals(db, filter) : statsFromMatches(db, filter));
  const { transactions, customers } = one(rows);
  return {
    transactions: Number(transactions),
    customers: Number(customers),
    revenue: rows.flatMap(({ unit, decimals, value }) =>
      unit === null || decimals === null || value === null ? [] : [{ unit, decimals, units: BigInt(value) }],
    ),
  };
}

interface StatsRow {
  readonly transactions: string;
  readonly customers: string;
  readonly unit: string | null;
  readonly decimals: number | null;
  readonly value: string | null;
}

/**
 * With no filter but on statuses: from the totals and the changes that are not yet in them, in one statement and so in
 * one snapshot, despite concurrent writes and folds. Overdue payments that are not swept yet are counted by their
 * visible status. They have no buyer and no revenue.
 */
export function statsFromTotals(db: Reader, filter: PaymentFilter) {
  const { partnerId, mode, merchantIds, statuses } = filter;
  const isOurs = db`partner_id = ${partnerId} and mode = ${mode}
    and ${merchantIds === null ? db`true` : db`merchant_id = any(${merchantIds as string[]}::text[])`}`;
  const isWanted = statuses === undefined ? db`true` : db`status = any(${statuses as string[]}::text[])`;
  const seen = db`
    union all
    select s.status, '', 0, s.payments, 0
    from overdue, lateral (values ('requires_action', -1), (seen, 1)) as s(status, payments)
    where ${isOurs} and ${isWanted}`;
  return db<StatsRow[]>`
    with ${statuses === undefined ? db`` : db`overdue as materialized (${overdue(db, filter)}),`}
    totals as materialized (
      select status, amount_unit, amount_decimals, payments, value from payment_stats where ${isOurs} and ${isWanted}
      union all
      select status, amount_unit, amount_decimals, payments, value from payment_stat_changes
      where ${isOurs} and ${isWanted}
      ${statuses === undefined ? db`` : seen}
    )
    select t.transactions, c.customers, r.*
    from (select coalesce(sum(payments), 0) as transactions from totals) t
    cross join (
      select count(distinct buyer_account) as customers from payment_customers
      where ${isOurs} and ${isWanted} and payments > 0
    ) c
    left join (
      select amount_unit as unit, amount_decimals as decimals, sum(value) as value from totals
      where status = 'succeeded' group by amount_unit, amount_decimals having sum(payments) > 0
    ) r on true
    order by r.unit`;
}

/**
 * The payments that the sweeper and the watcher have yet to check, of all merchants. With a filter on one merchant the
 * planner might scan all payments of that merchant instead of these few.
 */
function overdue(db: Reader, { now }: PaymentFilter) {
  const columns = db`partner_id, mode, merchant_id, ${seenStatus(db, now)} as seen`;
  return db`
    select ${columns} from payments p
    where status = 'requires_action' and native_deadline is null and expires_at <= ${now}
    union all
    select ${columns} from payments p
    where status = 'requires_action' and native_deadline is not null and expires_at <= ${now}`;
}

/** With any other filter: from the matching payments, which for given merchants takes an index alone. */
export function statsFromMatches(db: Reader, filter: PaymentFilter) {
  return db<StatsRow[]>`
    with matches as materialized (
      select id, status, buyer_account, amount_unit, amount_decimals, amount_value from ${matchesOf(db, filter)}
    )
    select t.transactions, t.customers, r.*
    from (select count(*) as transactions, count(distinct buyer_account) as customers from matches) t
    left join (
      select amount_unit as unit, amount_decimals as decimals,
        sum(case when f.payment_id is null then amount_value else 0 end) as value
      from matches left join refunds f on f.payment_id = matches.id and f.state = 'refunded'
      where status = 'succeeded' group by amount_unit, amount_decimals
    ) r on true
    order by r.unit`;
}

/**
 * Moves at most `limit` rows from the changes into the totals, and returns their number. The totals are locked in one
 * order, so that two folding nodes wait for each other without a deadlock.
 */
export async function foldStatChanges(tx: Tx, limit: number): Promise<number> {
  const rows = await tx<{ folded: number }[]>`
    with taken as (
      delete from payment_stat_changes where id = any(array(
        select id from payment_stat_changes order by id limit ${limit} for update skip locked))
      returning *
    ), folded as (
      insert into payment_stats
        (partner_id, mode, merchant_id, status, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, status, amount_unit, min(amount_decimals), sum(payments), sum(value)
      from taken
      group by partner_id, mode, merchant_id, status, amount_unit
      order by partner_id, mode, merchant_id, status, amount_unit
      on conflict (partner_id, mode, merchant_id, status, amount_unit) do update
        set payments = payment_stats.payments + excluded.payments, value = payment_stats.value + excluded.value
    )
    select count(*)::int as folded from taken`;
  return one(rows).folded;
}
