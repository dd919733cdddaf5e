import { firstIdAt } from '../../domain/ids.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment.ts';
import type { RefundState } from '../../domain/refund.ts';
import type { ItemFeeTerms } from '../chain/items.ts';
import type { Owner } from '../parties/merchants.ts';
import type { Reader } from '../plumbing/database.ts';
import { type Payment, paymentColumns } from './payments.ts';

/** A filter. Undefined members do not narrow it. */
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
  /** Visible statuses: an overdue payment counts as expired before the sweeper has moved it. */
  readonly statuses: readonly PaymentStatus[] | undefined;
  /** A part of the reference id, to the letter. */
  readonly referencePart: string | undefined;
  readonly now: Date;
}

export interface PaymentPageQuery extends PaymentFilter {
  readonly sortBy: 'date' | 'amount';
  readonly sortDir: 'asc' | 'desc';
  /** Only payments after this one. */
  readonly afterId: string | undefined;
  readonly limit: number;
}

/** A refund as lists of payments show it. Times are ISO 8601. */
export interface ListedRefund {
  readonly id: string;
  readonly state: RefundState;
  readonly network: string;
  readonly asset: string;
  readonly recipient: string;
  readonly amount: string;
  /** In the unit of the price. */
  readonly price: string;
  readonly reason: string | null;
  readonly transactionHash: string | null;
  readonly requestedAt: string;
  readonly updatedAt: string;
}

export interface ListedPayment extends Payment {
  readonly merchantName: string;
  readonly merchantIconUrl: string | null;
  /** The fee in the smallest unit of the paid asset, and its parts. Null while unknown. */
  readonly fee: string | null;
  readonly feeTerms: ItemFeeTerms | null;
  /** The transfer to the merchant; all null until it has been made. */
  readonly settledAsset: string | null;
  readonly settledAmount: string | null;
  readonly settledHash: string | null;
  readonly settledAt: Date | null;
  /** In the order of their numbers; null if there is none. */
  readonly refunds: readonly ListedRefund[] | null;
}

/**
 * One page. The ids of the page are selected first, by the index that has the filter and the order. Then only the rows of
 * the page are read: they are scattered over the whole table.
 */
export function listPayments(db: Reader, query: PaymentPageQuery) {
  const direction = query.sortDir === 'asc' ? db`asc` : db`desc`;
  const ids = query.sortBy === 'date' ? idsByDate(db, query, direction) : idsByAmount(db, query, direction);
  const amount = majorUnits(db, db`p."amountValue"`, db`p."amountDecimals"`);
  return db<ListedPayment[]>`
    with page as materialized (${ids})
    select p.*, page.name as "merchantName", page.icon_url as "merchantIconUrl", i.fee, i.fee_terms as "feeTerms",
      s.asset as "settledAsset", s.amount as "settledAmount", s.transaction_hash as "settledHash", s.at as "settledAt",
      r.refunds
    from (select ${paymentColumns(db)} from payments where id = any(array(select id from page))) p
    join page on page.id = p.id
    left join lateral (
      select fee, fee_terms from items
      where p.status = 'succeeded' and subject = p.id and state = 'paid'
        and end_reason is distinct from 'paid_after_end'
      limit 1
    ) i on true
    left join payment_settlements s on s.payment_id = p.id
    left join lateral (
      select json_agg(json_build_object('id', r.id, 'state', r.state, 'network', r.network, 'asset', r.asset,
        'recipient', r.recipient, 'amount', r.amount::text, 'price', coalesce(r.price_value, p."amountValue")::text,
        'reason', r.reason, 'transactionHash', r.transaction_hash, 'requestedAt', r.requested_at,
        'updatedAt', r.updated_at) order by r.number) as refunds
      from refunds r where r.payment_id = p.id
    ) r on true
    order by ${query.sortBy === 'date' ? db`` : db`${amount} ${direction},`} p.id ${direction}`;
}

/** A part of a statement. */
type Fragment = ReturnType<typeof paymentColumns>;

/** How a page is ordered and where it begins. */
interface PageOrder {
  /** The amount of a payment `p` to sort by; null for the order by date. */
  readonly amount: Fragment;
  readonly isNext: Fragment;
  /** Order and limit of rows with `id` and `amount`. */
  readonly page: Fragment;
}

/** Ids begin with the time they were made at, so the order by id is the order by date. */
function idsByDate(db: Reader, query: PaymentPageQuery, direction: Fragment): Fragment {
  const { partnerId, mode, merchantIds, statuses, assets, networks, referencePart, afterId } = query;
  const after = query.sortDir === 'asc' ? db`>` : db`<`;
  const isNext = afterId === undefined ? db`true` : db`p.id ${after} ${afterId}`;
  const page = db`order by p.id ${direction} limit ${query.limit}`;
  const order: PageOrder = { amount: db`null`, isNext, page };
  if (referencePart !== undefined) return pageOf(db, query, order, [found(db, query, order)]);
  if (assets !== undefined || networks !== undefined) {
    return pageOf(db, query, order, [byToken(db, query, order), open(db, query, order)]);
  }
  // If every payment of a partner matches, its first rows are the page, whatever the number of its merchants.
  if (merchantIds === null && statuses === undefined) {
    return db`
      select p.id, m.name, m.icon_url
      from (
        select p.id, p.merchant_id from payments p
        where p.partner_id = ${partnerId} and p.mode = ${mode} and ${isMatch(db, query)} and ${isNext} ${page}
      ) p join merchants m on m.id = p.merchant_id`;
  }
  return pageOf(db, query, order, [byStatus(db, query, order)]);
}

function idsByAmount(db: Reader, query: PaymentPageQuery, direction: Fragment): Fragment {
  const after = query.sortDir === 'asc' ? db`>` : db`<`;
  const amount = majorUnits(db, db`p.amount_value`, db`p.amount_decimals`);
  const isNext =
    query.afterId === undefined
      ? db`true`
      : db`(${amount}, p.id) ${after} (select ${amount}, p.id from payments p where p.id = ${query.afterId})`;
  const page = db`order by amount ${direction}, id ${direction} limit ${query.limit}`;
  const order: PageOrder = { amount, isNext, page };
  const branches =
    query.referencePart === undefined
      ? [byAmount(db, query, order), open(db, query, order)]
      : [found(db, query, order)];
  return pageOf(db, query, order, branches);
}

/**
 * The first rows of each merchant, by one or two indexes that have the order of the page. An index without the order
 * would be read to its end.
 */
function pageOf(db: Reader, query: PaymentPageQuery, { page }: PageOrder, branches: readonly Fragment[]): Fragment {
  const [first = db``, second] = branches;
  return db`
    select p.id, m.name, m.icon_url from merchants m
    cross join lateral (${first} ${second === undefined ? db`` : db`union all ${second}`}) p
    where ${isAmong(db, query)} ${page}`;
}

/** One part of `payments_by_status` for each status. */
function byStatus(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  return db`(
    select p.* from unnest(${storedStatuses(query)}::text[]) as s(status)
    cross join lateral (
      select p.id, ${amount} as amount from payments p
      where ${isOfMerchant(db, query)} and p.status = s.status and ${isMatch(db, query)} and ${isNext} ${page}
    ) p
  )`;
}

/** One part of `payments_by_amount` for each status. Open payments are not in it. */
function byAmount(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  return db`(
    select p.* from unnest(${storedStatuses(query)}::text[]) as s(status)
    cross join lateral (
      select p.id, ${amount} as amount from payments p
      where ${isOfMerchant(db, query)} and p.status = s.status and ${isClosed(db)} and ${isClosedMatch(db, query)}
        and ${isNext} ${page}
    ) p
  )`;
}

/** One part of `payments_by_token` for each token of the merchant. Open payments are not in it. */
function byToken(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  const { partnerId, mode } = query;
  const isOurs = db`partner_id = ${partnerId} and mode = ${mode} and merchant_id = m.id`;
  return db`(
    select p.* from (
      select token_asset from payment_stats where ${isOurs}
      union
      select token_asset from payment_stat_changes where ${isOurs}
    ) t
    cross join lateral (
      select p.id, ${amount} as amount from payments p
      where ${isOfMerchant(db, query)} and p.token_asset = t.token_asset and ${isClosed(db)}
        and ${isClosedMatch(db, query)} and ${isNext} ${page}
    ) p
    where ${isTokenMatch(db, query, db`t.token_asset`)}
  )`;
}

/** Open payments that match. They are few, so all of a merchant's are read. */
function open(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  return db`(
    select p.id, ${amount} as amount from payments p
    where ${isOfMerchant(db, query)} and p.status = 'requires_action' and ${isMatch(db, query)} and ${isNext} ${page}
  )`;
}

/** The result of a search. No index has an order for it. */
function found(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  return db`(
    select p.id, ${amount} as amount from (${matchesOfMerchant(db, query)}) p where ${isNext} ${page}
  )`;
}

/**
 * An amount that can be compared with those of other units: a whole number, so that nothing is ever rounded. No unit has
 * more than 36 decimals. The expression is that of the index `payments_by_amount`. The powers for dollars and the usual
 * tokens are written down: computing them takes longer than the rest.
 */
function majorUnits(db: Reader, value: Fragment, decimals: Fragment): Fragment {
  return db`(${value} * case ${decimals} when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
    else power(10::numeric, 36 - ${decimals}) end)`;
}

/** All payments that match, as a table `p`. */
export function matchesOf(db: Reader, filter: PaymentFilter): Fragment {
  return db`(
    select p.* from merchants m cross join lateral (${matchesOfMerchant(db, filter)}) p where ${isAmong(db, filter)}
  ) p`;
}

/**
 * The payments of the merchant `m` that match. Closed ones of a search are found by `payments_by_reference`, all others
 * by `payments_by_status`. The `offset` keeps the planner from going through the payments of all merchants.
 */
function matchesOfMerchant(db: Reader, filter: PaymentFilter): Fragment {
  if (filter.referencePart === undefined) {
    return db`
      select p.* from unnest(${storedStatuses(filter)}::text[]) as s(status)
      cross join lateral (
        select * from payments p
        where ${isOfMerchant(db, filter)} and p.status = s.status and ${isMatch(db, filter)} offset 0
      ) p`;
  }
  return db`
    (
      select * from payments p
      where ${isOfMerchant(db, filter)} and ${isClosed(db)} and ${hasReferencePart(db, filter, filter.referencePart)}
        and ${isClosedMatch(db, filter)} offset 0
    ) union all (
      select * from payments p
      where ${isOfMerchant(db, filter)} and p.status = 'requires_action' and ${isMatch(db, filter)} offset 0
    )`;
}

/** The index finds payments that have all parts of the text, in any order. */
function hasReferencePart(db: Reader, filter: PaymentFilter, text: string): Fragment {
  return db`reference_parts(p.merchant_id, p.reference_id) @> reference_parts(${merchantOf(db, filter)}, ${text})
    and strpos(p.reference_id, ${text}) > 0`;
}

/**
 * A payment of the merchant `m`. A single merchant is named by its id, because the planner knows the number of its
 * payments then. Otherwise it expects the average of all merchants, and takes an index without the order of the page.
 */
function isOfMerchant(db: Reader, filter: PaymentFilter): Fragment {
  return db`p.merchant_id = ${merchantOf(db, filter)}`;
}

function merchantOf(db: Reader, { merchantIds }: PaymentFilter): Fragment {
  const [id, ...others] = merchantIds ?? [];
  return id === undefined || others.length > 0 ? db`m.id` : db`${id}::text`;
}

/** The statuses in the table that may be seen as one of the wanted ones: an overdue open payment is seen as over. */
function storedStatuses({ statuses = PAYMENT_STATUSES }: PaymentFilter): string[] {
  const isOpenWanted = statuses.some((status) => SEEN_WHILE_OPEN.has(status));
  return PAYMENT_STATUSES.filter((status) => (status === 'requires_action' ? isOpenWanted : statuses.includes(status)));
}

const SEEN_WHILE_OPEN: ReadonlySet<PaymentStatus> = new Set(['requires_action', 'processing', 'expired']);

/** The predicate of the indexes that leave open payments out. */
const isClosed = (db: Reader) => db`p.status <> 'requires_action'`;

function isAmong(db: Reader, { partnerId, mode, merchantIds }: PaymentFilter): Fragment {
  return db`m.partner_id = ${partnerId} and m.mode = ${mode}
    and ${merchantIds === null ? db`true` : db`m.id = any(${merchantIds as string[]}::text[])`}`;
}

/** Uses only columns of `payments_by_status`, so that the index alone is enough. */
function isMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { statuses, referencePart, now } = filter;
  const isSeen = db`(p.status <> 'requires_action' or ${seenStatus(db, now)} = any(${statuses as string[]}::text[]))`;
  return db`${isInRange(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)}
    and ${statuses === undefined ? db`true` : isSeen}
    and ${referencePart === undefined ? db`true` : db`strpos(p.reference_id, ${referencePart}) > 0`}`;
}

/** The filters for a payment that is not open, without the search. */
function isClosedMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { statuses } = filter;
  return db`${isInRange(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)}
    and ${statuses === undefined ? db`true` : db`p.status = any(${statuses as string[]}::text[])`}`;
}

function isInRange(db: Reader, { fromMs, untilMs }: PaymentFilter): Fragment {
  return db`${fromMs === undefined ? db`true` : db`p.id >= ${firstIdAt('pay_', fromMs)}`}
    and ${untilMs === undefined ? db`true` : db`p.id < ${firstIdAt('pay_', untilMs)}`}`;
}

export function isTokenMatch(db: Reader, { assets, networks }: PaymentFilter, asset: Fragment): Fragment {
  const chain = db`split_part(${asset}, '/', 1)`;
  return db`${assets === undefined ? db`true` : db`${asset} = any(${assets as string[]}::text[])`}
    and ${networks === undefined ? db`true` : db`${chain} = any(${networks as string[]}::text[])`}`;
}

/** `visibleStatus` of `domain/payment.ts`, in SQL. */
export function seenStatus(db: Reader, now: Date): Fragment {
  return db`case when p.status <> 'requires_action' or p.expires_at > ${now} then p.status
    when p.native_deadline is null then 'expired' else 'processing' end`;
}
