import type { Decimal } from '../../domain/money.ts';
import { caipKeySql } from '../plumbing/address-key.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import {
  type Fragment,
  isAmong,
  isInRange,
  isSearch,
  isTokenMatch,
  matchesOf,
  overduePayments,
  type PaymentFilter,
  seenStatus,
  unionAll,
} from './payment-filter.ts';
import { type DayPart, type DayRange, sourcesOf } from './stat-sources.ts';

export interface PaymentStats {
  readonly transactions: number;
  /** The number of distinct accounts that paid or tried to pay. Undefined if they were not counted. */
  readonly customers: number | undefined;
  /** The prices of succeeded payments less their refunded parts, with one sum for each unit. */
  readonly revenue: readonly ({ readonly unit: string } & Decimal)[];
}

export interface StatsOptions {
  /** True if distinct customers are counted, row by row. All other numbers are read from totals. The default is true. */
  readonly countsCustomers?: boolean;
  readonly mostLookedUp?: number;
}

export async function readPaymentStats(
  db: Reader,
  filter: PaymentFilter,
  options: Pick<StatsOptions, 'countsCustomers'> = {},
): Promise<PaymentStats> {
  const rows = await paymentStats(db, filter, options);
  const { transactions, customers } = one(rows);
  return {
    transactions: Number(transactions),
    customers: customers === null ? undefined : Number(customers),
    revenue: rows.flatMap(({ unit, decimals, value }) =>
      unit === null || decimals === null || value === null ? [] : [{ unit, decimals, units: BigInt(value) }],
    ),
  };
}

interface StatsRow {
  readonly transactions: string;
  readonly customers: string | null;
  readonly unit: string | null;
  readonly decimals: number | null;
  readonly value: string | null;
}

/**
 * The largest number of customers whose days are looked up one by one. If there are more, and the range has two ends, all rows of its
 * days are read instead.
 */
const MOST_LOOKED_UP = 1_000;

/**
 * The SQL query for the statistics: the sum of totals, of changes that are not yet in the totals, and of single payments. A single
 * statement reads all of them from one snapshot, even while other database transactions write payments or move changes into the totals.
 * Overdue payments that no job has ended yet are counted by their visible status. They have no buyer and no revenue.
 */
export function paymentStats(
  db: Reader,
  filter: PaymentFilter,
  { countsCustomers = true, mostLookedUp = MOST_LOOKED_UP }: StatsOptions = {},
) {
  const { totals, whole, parts } = sourcesOf(filter);
  const reducedDays = parts.flatMap(({ sign, day }) => (sign === -1 && day !== undefined ? [day] : []));
  const hasRefunds = !isSearch(filter) && (filter.statuses?.includes('succeeded') ?? true);
  const counted = [
    ...(totals === undefined ? [] : [countedTotals(db, filter, totals)]),
    ...(parts.length === 0
      ? []
      : [
          db`select status, amount_unit, amount_decimals, sign * payments as payments, sign * value as value from singles`,
        ]),
    ...(hasRefunds ? parts.map((part) => refundsOf(db, part)) : []),
  ];
  const customers = [
    ...(whole === undefined ? [] : [customersOf(db, filter, whole, mostLookedUp)]),
    ...(reducedDays.length === 0 ? [] : [customersOfReducedDays(db, filter, reducedDays)]),
    ...(parts.some(({ sign }) => sign === 1)
      ? [db`select buyer_account from singles where sign = 1 and buyer_account is not null`]
      : []),
  ];
  return db<StatsRow[]>`
    with ${
      parts.length === 0
        ? db``
        : db`singles as materialized (${unionAll(
            db,
            parts.map((part) => singles(db, part)),
          )}),`
    }
    totals as materialized (${unionAll(db, counted)})
    select t.transactions, c.customers, r.*
    from (select coalesce(sum(payments), 0) as transactions from totals) t
    cross join (${
      countsCustomers
        ? db`select count(*) as customers from (select distinct ${oneSpelling(db)} from (${unionAll(db, customers)}) b) d`
        : db`select null as customers`
    }) c
    left join (
      select amount_unit as unit, amount_decimals as decimals, sum(value) as value from totals
      where status = 'succeeded' group by amount_unit, amount_decimals having sum(payments) > 0
    ) r on true
    order by r.unit`;
}

/** The number of all payments by stored status, from the totals and the changes that are not yet in the totals. */
export async function countPayments(db: Reader): Promise<{ readonly status: string; readonly count: number }[]> {
  const rows = await db<{ status: string; count: string }[]>`
    select status, sum(payments) as count
    from (
      select status, payments from payment_stats union all select status, payments from payment_stat_changes
    ) counted
    group by status`;
  return rows.map(({ status, count }) => ({ status, count: Number(count) }));
}

/** The SQL rows of totals, and of changes that are not yet in the totals, that match the filter. */
function countedTotals(db: Reader, filter: PaymentFilter, totals: DayRange): Fragment {
  const { statuses } = filter;
  const isWanted = isTotalWanted(db, filter, totals);
  const days = filter.merchantIds === null ? db`payment_partner_day_stats` : db`payment_day_stats`;
  const table = isByDay(totals) ? days : db`payment_stats`;
  const seen = db`
    union all
    select s.status, '', 0, s.payments, 0
    from (${overdue(db, filter, totals)}) o, lateral (values ('requires_action', -1), (seen, 1)) as s(status, payments)
    where s.status = any(${(statuses ?? []) as string[]}::text[])`;
  return db`
    select status, amount_unit, amount_decimals, payments, value from ${table} where ${isWanted}
    union all
    select status, amount_unit, amount_decimals, payments, value from payment_stat_changes where ${isWanted}
    ${statuses === undefined ? db`` : seen}`;
}

/** The buyer's account in one spelling, because older rows have the wallet's spelling of the address. */
function oneSpelling(db: Reader): Fragment {
  return caipKeySql(db, db`buyer_account`);
}

/**
 * The SQL rows of the customers with payments on the days of a range. A customer may occur more than once. Usually a customer's first and
 * last day show whether there are such payments. If the customer has payments both before and after the range, or if the first and the last
 * day are unknown, the table of days is read for that customer. For a merchant with more than `mostLookedUp` customers, all rows of the
 * range's days are read instead.
 */
function customersOf(db: Reader, filter: PaymentFilter, days: DayRange, mostLookedUp: number): Fragment {
  const isWanted = db`${isTotalWanted(db, filter, ALL_DAYS)} and payments > 0`;
  if (!isByDay(days)) return db`select buyer_account from payment_customers where ${isWanted}`;
  const from = db`${days.fromDay ?? '-infinity'}::date`;
  const until = db`${days.untilDay ?? 'infinity'}::date`;
  // A subquery and not `exists`: for `exists`, the planner would hash the days of all customers.
  const hasDay = db`(
    select true from payment_day_customers d
    where (d.merchant_id, d.buyer_account, d.status, d.token_asset)
        = (c.merchant_id, c.buyer_account, c.status, c.token_asset)
      and d.day >= ${from} and d.day < ${until} and d.payments > 0
    limit 1)`;
  const lookedUp = db`
    select buyer_account from payment_customers c
    where ${isWanted} and coalesce(first_day < ${until} and last_day >= ${from}, true)
      and (coalesce(first_day >= ${from} or last_day < ${until}, false) or ${hasDay})`;
  if (days.fromDay === undefined || days.untilDay === undefined) return lookedUp;
  return db`(
    with size as materialized (
      select count(*) > ${mostLookedUp}::int as is_large
      from (select from payment_customers where ${isWanted} limit ${mostLookedUp + 1}::int) c
    )
    ${lookedUp} and not (select is_large from size)
    union all
    select buyer_account from payment_day_customers
    where ${isTotalWanted(db, filter, days)} and payments > 0 and (select is_large from size))`;
}

/**
 * The SQL rows of the customers of days from which single payments are subtracted. They are the customers that still have a payment after
 * the subtraction. A customer may occur more than once.
 */
function customersOfReducedDays(db: Reader, filter: PaymentFilter, days: readonly string[]): Fragment {
  const keys = db`merchant_id, day, buyer_account, status, token_asset`;
  return db`
    select buyer_account
    from (
      select ${keys}, payments from payment_day_customers
      where ${isTotalWanted(db, filter, ALL_DAYS)} and day = any(${days as string[]}::date[]) and payments > 0
      union all
      select ${keys}, -payments from singles where sign = -1 and buyer_account is not null
    ) d
    group by ${keys} having sum(payments) > 0`;
}

const ALL_DAYS: DayRange = { fromDay: undefined, untilDay: undefined };

function isByDay({ fromDay, untilDay }: DayRange): boolean {
  return fromDay !== undefined || untilDay !== undefined;
}

function isTotalWanted(db: Reader, filter: PaymentFilter, { fromDay, untilDay }: DayRange): Fragment {
  const { statuses } = filter;
  return db`${isOwn(db, filter)}
    and ${statuses === undefined ? db`true` : db`status = any(${statuses as string[]}::text[])`}
    and ${isTokenMatch(db, filter, db`token_asset`)}
    and ${fromDay === undefined ? db`true` : db`day >= ${fromDay}::date`}
    and ${untilDay === undefined ? db`true` : db`day < ${untilDay}::date`}`;
}

function isOwn(db: Reader, { partnerId, mode, merchantIds }: PaymentFilter): Fragment {
  return db`partner_id = ${partnerId} and mode = ${mode}
    and ${merchantIds === null ? db`true` : db`merchant_id = any(${merchantIds as string[]}::text[])`}`;
}

/** The SQL rows of the visible statuses of overdue payments, which the expiry job and the watcher have not processed yet. */
function overdue(db: Reader, filter: PaymentFilter, totals: DayRange): Fragment {
  const columns = db`partner_id, mode, merchant_id, created_at, token_asset, ${seenStatus(db, filter.now)} as seen`;
  const { fromDay, untilDay } = totals;
  return db`
    select seen from (${overduePayments(db, columns, filter.now)}) p
    where ${isOwn(db, filter)} and ${isTokenMatch(db, filter, db`token_asset`)}
      and ${fromDay === undefined ? db`true` : db`created_at >= ${fromDay}::timestamp at time zone 'UTC'`}
      and ${untilDay === undefined ? db`true` : db`created_at < ${untilDay}::timestamp at time zone 'UTC'`}`;
}

/**
 * The SQL rows of the payments of a part of a day, summed by buyer, status, token and unit. Refunds are subtracted here only for a
 * search. Otherwise `refundsOf` subtracts them.
 */
function singles(db: Reader, { filter, sign, day }: DayPart): Fragment {
  const refunded = db`coalesce(case when p.status = 'succeeded' then (
    select sum(coalesce(r.price_value, p.amount_value)) from refunds r
    where r.payment_id = p.id and r.state = 'refunded'
  ) end, 0)`;
  return db`
    select ${sign}::int as sign, ${day ?? null}::date as day, s.*
    from (
      select p.merchant_id, p.status, p.buyer_account, coalesce(p.token_asset, '') as token_asset, p.amount_unit,
        p.amount_decimals, count(*) as payments,
        sum(p.amount_value${isSearch(filter) ? db` - ${refunded}` : db``}) as value
      from ${matchesOf(db, filter)}
      group by p.merchant_id, p.status, p.buyer_account, coalesce(p.token_asset, ''), p.amount_unit, p.amount_decimals
    ) s`;
}

/**
 * The SQL rows of the refunds in a part of a day, which are few. Looking up refunds for each payment would take longer than everything
 * else.
 */
function refundsOf(db: Reader, { filter, sign }: DayPart): Fragment {
  return db`
    select p.status, p.amount_unit, p.amount_decimals, 0::int as payments,
      -${sign}::int * coalesce(r.price_value, p.amount_value) as value
    from merchants m
    join refunds r on r.merchant_id = m.id and r.state = 'refunded' and ${isInRange(db, filter, db`r.payment_id`)}
    join payments p on p.id = r.payment_id
    where ${isAmong(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)} and p.status = 'succeeded'`;
}

/**
 * Moves at most `limit` rows from the changes into the totals, and returns their number. The totals are locked in a fixed order, to prevent
 * deadlocks between two nodes.
 */
export async function foldStatChanges(tx: Tx, limit: number): Promise<number> {
  const rows = await tx<{ folded: number }[]>`
    with taken as (
      delete from payment_stat_changes where id = any(array(
        select id from payment_stat_changes order by id limit ${limit} for update skip locked))
      returning *
    ), folded as (
      insert into payment_stats
        (partner_id, mode, merchant_id, status, token_asset, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, status, token_asset, amount_unit, min(amount_decimals), sum(payments),
        sum(value)
      from taken
      group by partner_id, mode, merchant_id, status, token_asset, amount_unit
      order by partner_id, mode, merchant_id, status, token_asset, amount_unit
      on conflict (partner_id, mode, merchant_id, status, token_asset, amount_unit) do update
        set payments = payment_stats.payments + excluded.payments, value = payment_stats.value + excluded.value
    ), folded_days as (
      insert into payment_day_stats
        (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, day, status, token_asset, amount_unit, min(amount_decimals), sum(payments),
        sum(value)
      from taken
      group by partner_id, mode, merchant_id, day, status, token_asset, amount_unit
      order by partner_id, mode, merchant_id, day, status, token_asset, amount_unit
      on conflict (partner_id, mode, merchant_id, day, status, token_asset, amount_unit) do update
        set payments = payment_day_stats.payments + excluded.payments, value = payment_day_stats.value + excluded.value
    )
    select count(*)::int as folded from taken`;
  return one(rows).folded;
}

/**
 * Computes the first and the last day of customers that have none, and returns the number of these customers. Their rows are locked first.
 * A database transaction that moves a payment of such a customer then waits, and adds its day afterwards.
 */
export async function findDaysOfCustomers(tx: Tx, limit: number): Promise<number> {
  const keys = await tx<{ key: string }[]>`
    select ctid::text as key from payment_customers where first_day is null and payments > 0
    limit ${limit} for update skip locked`;
  if (keys.length === 0) return 0;
  await tx`
    update payment_customers c set (first_day, last_day) = (
      select min(day), max(day) from payment_day_customers d
      where (d.merchant_id, d.buyer_account, d.status, d.token_asset)
          = (c.merchant_id, c.buyer_account, c.status, c.token_asset)
        and d.payments > 0)
    where c.ctid = any(${keys.map(({ key }) => key)}::tid[])`;
  return keys.length;
}
