import { firstIdAt } from '../domain/ids.ts';
import type { PaymentStatus } from '../domain/payment.ts';
import type { Reader } from './database.ts';
import type { Owner } from './merchants.ts';
import { type Payment, paymentColumns } from './payments.ts';

/** Which payments. What is undefined does not narrow. */
export interface PaymentFilter extends Owner {
  /** Of these merchants, as far as they are the owner's; null for all of the owner's. */
  readonly merchantIds: readonly string[] | null;
  /** Made at this time or later. */
  readonly fromMs: number | undefined;
  /** Made before this time. */
  readonly untilMs: number | undefined;
  /** Paid, or to be paid, with one of these assets, on one of these chains. */
  readonly assets: readonly string[] | undefined;
  readonly networks: readonly string[] | undefined;
  /** As everybody sees them now, whether or not the sweeper has been by. */
  readonly statuses: readonly PaymentStatus[] | undefined;
  /** A part of the reference id, to the letter. */
  readonly referencePart: string | undefined;
  readonly now: Date;
}

export interface PaymentPageQuery extends PaymentFilter {
  readonly sortBy: 'date' | 'amount';
  readonly sortDir: 'asc' | 'desc';
  /** Only what comes after this payment. */
  readonly afterId: string | undefined;
  readonly limit: number;
}

export interface ListedPayment extends Payment {
  readonly merchantName: string;
  readonly merchantIconUrl: string | null;
}

/**
 * One page. Which payments are on it is decided first, by id: with a filter on dates, statuses and references that
 * takes nothing but an index. Only the rows of the page are then read, which lie scattered over the whole table.
 */
export function listPayments(db: Reader, query: PaymentPageQuery) {
  const direction = query.sortDir === 'asc' ? db`asc` : db`desc`;
  const ids = query.sortBy === 'date' ? idsByDate(db, query, direction) : idsByAmount(db, query, direction);
  const order = query.sortBy === 'date' ? db`p.id` : majorUnits(db, db`p."amountValue"`, db`p."amountDecimals"`);
  return db<ListedPayment[]>`
    with page as materialized (${ids})
    select p.*, m.name as "merchantName", m.icon_url as "merchantIconUrl"
    from (select ${paymentColumns(db)} from payments where id = any(array(select id from page))) p
    join merchants m on m.id = p."merchantId"
    order by ${order} ${direction}, p.id ${direction}`;
}

/** A part of a statement. */
type Fragment = ReturnType<typeof paymentColumns>;

/** Ids begin with the time they were made at, so this is the order by date, and of any number of merchants. */
function idsByDate(db: Reader, query: PaymentPageQuery, direction: Fragment): Fragment {
  const comparison = query.sortDir === 'asc' ? db`>` : db`<`;
  const after = query.afterId === undefined ? db`true` : db`p.id ${comparison} ${query.afterId}`;
  const matching = db`${isIndexed(db, query)} and ${isInRow(db, query)} and ${after}`;
  const page = db`order by p.id ${direction} limit ${query.limit}`;
  if (query.merchantIds === null)
    return db`select p.id from payments p where ${isOwn(db, query)} and ${matching} ${page}`;
  return db`
    select p.id from merchants m
    cross join lateral (select p.id from payments p where p.merchant_id = m.id and ${matching} ${page}) p
    where ${isAmong(db, query, query.merchantIds)} ${page}`;
}

/** No index knows this order: the rows that match are all looked at. */
function idsByAmount(db: Reader, query: PaymentPageQuery, direction: Fragment): Fragment {
  const comparison = query.sortDir === 'asc' ? db`>` : db`<`;
  const amount = majorUnits(db, db`p.amount_value`, db`p.amount_decimals`);
  const after =
    query.afterId === undefined
      ? db`true`
      : db`(${amount}, p.id) ${comparison} (
          select ${amount}, p.id from payments p where p.id = ${query.afterId})`;
  return db`
    select p.id from ${scopeOf(db, query)}
    where ${isInScope(db, query)} and ${isIndexed(db, query)} and ${isInRow(db, query)} and ${after}
    order by ${amount} ${direction}, p.id ${direction} limit ${query.limit}`;
}

/** The most decimals a unit may have. */
const MOST_DECIMALS = 36;

/** An amount that can be compared with those of other units: a whole number, so that nothing is ever rounded. */
function majorUnits(db: Reader, value: Fragment, decimals: Fragment): Fragment {
  return db`${value} * ('1e' || (${MOST_DECIMALS}::int - ${decimals}))::numeric`;
}

/** The payments `p` to choose from, for use with `isInScope`. */
export function scopeOf(db: Reader, { merchantIds }: PaymentFilter): Fragment {
  return merchantIds === null ? db`payments p` : db`merchants m join payments p on p.merchant_id = m.id`;
}

export function isInScope(db: Reader, filter: PaymentFilter): Fragment {
  return filter.merchantIds === null ? isOwn(db, filter) : isAmong(db, filter, filter.merchantIds);
}

function isOwn(db: Reader, { partnerId, mode }: Owner): Fragment {
  return db`p.partner_id = ${partnerId} and p.mode = ${mode}`;
}

function isAmong(db: Reader, { partnerId, mode }: Owner, ids: readonly string[]): Fragment {
  return db`m.id = any(${ids as string[]}::text[]) and m.partner_id = ${partnerId} and m.mode = ${mode}`;
}

/** The part of the filter that `payments_by_merchant` decides alone. */
export function isIndexed(db: Reader, { fromMs, untilMs, statuses, referencePart, now }: PaymentFilter): Fragment {
  return db`
    ${fromMs === undefined ? db`true` : db`p.id >= ${firstIdAt('pay_', fromMs)}`}
    and ${untilMs === undefined ? db`true` : db`p.id < ${firstIdAt('pay_', untilMs)}`}
    and ${statuses === undefined ? db`true` : db`${seenStatus(db, now)} = any(${statuses as string[]}::text[])`}
    and ${referencePart === undefined ? db`true` : db`strpos(p.reference_id, ${referencePart}) > 0`}`;
}

/** The part that only the row itself decides. */
export function isInRow(db: Reader, { assets, networks }: PaymentFilter): Fragment {
  return db`
    ${assets === undefined ? db`true` : db`p.token_asset = any(${assets as string[]}::text[])`}
    and ${networks === undefined ? db`true` : db`split_part(p.token_asset, '/', 1) = any(${networks as string[]}::text[])`}`;
}

/** `visibleStatus` of `domain/payment.ts`, where the rows are. */
export function seenStatus(db: Reader, now: Date): Fragment {
  return db`case when p.status <> 'requires_action' or p.expires_at > ${now} then p.status
    when p.native_deadline is null then 'expired' else 'processing' end`;
}
