import type { Decimal } from '../../domain/money.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import {
  type Fragment,
  isTokenMatch,
  matchesOf,
  overduePayments,
  type PaymentFilter,
  seenStatus,
  unionAll,
} from './payment-filter.ts';

/** Totals of all payments that match a filter. */
export interface PaymentStats {
  readonly transactions: number;
  /** Different accounts that paid or tried to. */
  readonly customers: number;
  /** The prices of succeeded payments, less the parts that were refunded, one sum per unit. */
  readonly revenue: readonly ({ readonly unit: string } & Decimal)[];
}

export async function readPaymentStats(db: Reader, filter: PaymentFilter): Promise<PaymentStats> {
  const rows = await paymentStats(db, filter);
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

const DAY_MS = 86_400_000;

/** Where the numbers of an answer come from. */
interface Sources {
  /** The totals: of all time, or of whole days (UTC). Undefined if no total covers the filter. */
  readonly totals: { readonly fromDay: string | undefined; readonly untilDay: string | undefined } | undefined;
  /** Filters for the payments that no total covers, which are added up one by one. */
  readonly rest: readonly PaymentFilter[];
}

/** A search is added up from its matches, a time range from its whole days and the payments at both ends. */
function sourcesOf(filter: PaymentFilter): Sources {
  const { fromMs, untilMs, referencePart, named } = filter;
  const fromDayMs = fromMs === undefined ? undefined : Math.ceil(fromMs / DAY_MS) * DAY_MS;
  const untilDayMs = untilMs === undefined ? undefined : Math.floor(untilMs / DAY_MS) * DAY_MS;
  const hasDays = fromDayMs === undefined || untilDayMs === undefined || fromDayMs < untilDayMs;
  if (referencePart !== undefined || named !== undefined || !hasDays) return { totals: undefined, rest: [filter] };
  return {
    totals: { fromDay: dayAt(fromDayMs), untilDay: dayAt(untilDayMs) },
    rest: [
      ...(fromMs === fromDayMs ? [] : [{ ...filter, untilMs: fromDayMs }]),
      ...(untilMs === untilDayMs ? [] : [{ ...filter, fromMs: untilDayMs }]),
    ],
  };
}

/** The year 9999 is the last that has four digits. */
const LAST_DAY_MS = Date.UTC(9999, 11, 31);

/** PostgreSQL has no year 0, and other years are spelled in other ways. No payment is older than 1970. */
function dayAt(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return new Date(Math.min(Math.max(ms, 0), LAST_DAY_MS)).toISOString().slice(0, 10);
}

/**
 * Adds up totals, the changes that are not yet in them, and single payments, in one statement and so in one snapshot,
 * despite concurrent writes and folds. Overdue payments that are not swept yet are counted by their visible status. They
 * have no buyer and no revenue.
 */
export function paymentStats(db: Reader, filter: PaymentFilter) {
  const { totals, rest } = sourcesOf(filter);
  const [first, second] = rest;
  const counted = totals === undefined ? [] : [countedTotals(db, filter, totals)];
  const single =
    first === undefined ? [] : [db`select status, amount_unit, amount_decimals, 1 as payments, value from singles`];
  const buyers = totals === undefined ? [] : [customersOf(db, filter, totals)];
  const singleBuyers =
    first === undefined ? [] : [db`select buyer_account from singles where buyer_account is not null`];
  return db<StatsRow[]>`
    with ${first === undefined ? db`` : db`singles as materialized (${singles(db, first, second)}),`}
    totals as materialized (${unionAll(db, [...counted, ...single])})
    select t.transactions, c.customers, r.*
    from (select coalesce(sum(payments), 0) as transactions from totals) t
    cross join (select count(*) as customers from (${union(db, [...buyers, ...singleBuyers])}) b) c
    left join (
      select amount_unit as unit, amount_decimals as decimals, sum(value) as value from totals
      where status = 'succeeded' group by amount_unit, amount_decimals having sum(payments) > 0
    ) r on true
    order by r.unit`;
}

/** The number of all payments by stored status, from the totals and the changes that are not in them yet. */
export async function countPayments(db: Reader): Promise<{ readonly status: string; readonly count: number }[]> {
  const rows = await db<{ status: string; count: string }[]>`
    select status, sum(payments) as count
    from (
      select status, payments from payment_stats union all select status, payments from payment_stat_changes
    ) counted
    group by status`;
  return rows.map(({ status, count }) => ({ status, count: Number(count) }));
}

/** Without repetitions. */
function union(db: Reader, [first = db``, second]: readonly Fragment[]): Fragment {
  return second === undefined ? db`select distinct * from (${first}) b` : db`${first} union ${second}`;
}

type Totals = NonNullable<Sources['totals']>;

/** Rows of totals and changes that the filter wants. */
function countedTotals(db: Reader, filter: PaymentFilter, totals: Totals): Fragment {
  const { statuses } = filter;
  const isWanted = isTotalWanted(db, filter, totals);
  const table = isByDay(totals) ? db`payment_day_stats` : db`payment_stats`;
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

/**
 * The customers of the totals, with repetitions. In a range with one end, a customer's first or last day decides. The few
 * customers whose days are unknown, and those of a range with two ends, are found by their days.
 */
function customersOf(db: Reader, filter: PaymentFilter, totals: Totals): Fragment {
  const { fromDay, untilDay } = totals;
  const ever = db`select buyer_account from payment_customers c
    where ${isTotalWanted(db, filter, { fromDay: undefined, untilDay: undefined })} and payments > 0`;
  if (!isByDay(totals)) return ever;
  const ofDays = db`select buyer_account from payment_day_customers d
    where ${isTotalWanted(db, filter, totals)} and payments > 0`;
  if (fromDay !== undefined && untilDay !== undefined) return ofDays;
  const isInRange =
    fromDay === undefined ? db`first_day < ${untilDay ?? null}::date` : db`last_day >= ${fromDay}::date`;
  return db`
    ${ever} and ${isInRange}
    union all
    ${ofDays} and exists (
      select from payment_customers c
      where (c.partner_id, c.mode, c.merchant_id, c.buyer_account, c.status, c.token_asset)
          = (d.partner_id, d.mode, d.merchant_id, d.buyer_account, d.status, d.token_asset)
        and c.first_day is null and c.payments > 0)`;
}

function isByDay({ fromDay, untilDay }: Totals): boolean {
  return fromDay !== undefined || untilDay !== undefined;
}

function isTotalWanted(db: Reader, filter: PaymentFilter, { fromDay, untilDay }: Totals): Fragment {
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

/** The visible statuses of payments that the sweeper and the watcher have yet to check. */
function overdue(db: Reader, filter: PaymentFilter, totals: Totals): Fragment {
  const columns = db`partner_id, mode, merchant_id, created_at, token_asset, ${seenStatus(db, filter.now)} as seen`;
  const { fromDay, untilDay } = totals;
  return db`
    select seen from (${overduePayments(db, columns, filter.now)}) p
    where ${isOwn(db, filter)} and ${isTokenMatch(db, filter, db`token_asset`)}
      and ${fromDay === undefined ? db`true` : db`created_at >= ${fromDay}::timestamp at time zone 'UTC'`}
      and ${untilDay === undefined ? db`true` : db`created_at < ${untilDay}::timestamp at time zone 'UTC'`}`;
}

/** The payments of one or two filters, with their revenue: the price, less the part that was refunded. */
function singles(db: Reader, first: PaymentFilter, second: PaymentFilter | undefined): Fragment {
  const revenueOf = (filter: PaymentFilter) => db`
    select p.status, p.buyer_account, p.amount_unit, p.amount_decimals, p.amount_value - coalesce(f.refunded, 0) as value
    from ${matchesOf(db, filter)}
    left join lateral (
      select sum(coalesce(r.price_value, p.amount_value)) as refunded from refunds r
      where p.status = 'succeeded' and r.payment_id = p.id and r.state = 'refunded'
    ) f on true`;
  return second === undefined ? revenueOf(first) : db`${revenueOf(first)} union all ${revenueOf(second)}`;
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
 * Finds the first and the last day of customers that lack them, and returns their number. The rows are locked first: a
 * payment that moves meanwhile waits, and then adds its day.
 */
export async function findDaysOfCustomers(tx: Tx, limit: number): Promise<number> {
  const keys = await tx<{ key: string }[]>`
    select ctid::text as key from payment_customers where first_day is null and payments > 0
    limit ${limit} for update skip locked`;
  if (keys.length === 0) return 0;
  await tx`
    update payment_customers c set (first_day, last_day) = (
      select min(d.day), max(d.day)
      from (
        select day from payment_day_customers
        where partner_id = c.partner_id and mode = c.mode and merchant_id = c.merchant_id order by day limit 1
      ) oldest
      cross join lateral (
        select day from payment_day_customers
        where partner_id = c.partner_id and mode = c.mode and merchant_id = c.merchant_id order by day desc limit 1
      ) newest
      -- A look into the index for each day, because it has the days before the customers.
      cross join lateral generate_series(oldest.day::timestamp, newest.day, interval '1 day') as days(at)
      join payment_day_customers d on d.partner_id = c.partner_id and d.mode = c.mode and d.merchant_id = c.merchant_id
        and d.day = days.at::date and d.buyer_account = c.buyer_account and d.status = c.status
        and d.token_asset = c.token_asset
      where d.payments > 0)
    where c.ctid = any(${keys.map(({ key }) => key)}::tid[])`;
  return keys.length;
}
