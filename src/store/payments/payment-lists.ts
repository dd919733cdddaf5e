import type { SweepTerms } from '../../domain/deposit.ts';
import { LATE_STATES, type LateReason, type LateState } from '../../domain/late-money.ts';
import type { RefundState } from '../../domain/refund.ts';
import { type ItemFeeTerms, isPayingItem } from '../chain/items.ts';
import type { Reader } from '../plumbing/database.ts';
import { directionOf, majorUnits, orderOf, type PageOrder, type PaymentPageQuery } from './page-order.ts';
import { partnerPageIds } from './partner-lists.ts';
import {
  type Fragment,
  hasTokens,
  isAmong,
  isClosed,
  isClosedMatch,
  isMatch,
  isOfMerchant,
  isOpenWanted,
  isOverdueAlone,
  isTokenMatch,
  matchesOfMerchant,
  namedMatches,
  openSources,
  overduePayments,
  type PaymentName,
  storedStatuses,
  unionAll,
} from './payment-filter.ts';
import { type Payment, paymentColumns } from './payments.ts';

/** A refund as lists of payments show it. Times are ISO 8601. */
export interface ListedRefund {
  readonly id: string;
  readonly state: RefundState;
  readonly problem: string | null;
  readonly network: string;
  readonly asset: string;
  readonly recipient: string;
  readonly amount: string;
  /** The refunded part of the price, in minor units. */
  readonly price: string;
  readonly reason: string | null;
  readonly transactionHash: string | null;
  readonly requestedAt: string;
  readonly updatedAt: string;
}

export interface ListedLateMoney {
  readonly id: string;
  readonly reason: LateReason | null;
  readonly state: LateState;
  readonly asset: string;
  readonly amount: string;
}

export interface ListedPayment extends Payment {
  readonly merchantName: string;
  readonly merchantIconUrl: string | null;
  /** The asked amount and the fee of the item that paid. Null until an item has paid. */
  readonly asked: SweepTerms | null;
  readonly feeTerms: ItemFeeTerms | null;
  /** The asset of the transfer to the merchant. This and the three fields after it are null until the transfer has happened. */
  readonly settledAsset: string | null;
  readonly settledAmount: string | null;
  readonly settledHash: string | null;
  readonly settledAt: Date | null;
  /** The refunds of the payment, ordered by number. Null if there are none. */
  readonly refunds: readonly ListedRefund[] | null;
  /** The late money of the payment, the oldest first. Null if there is none. */
  readonly lateMoney: readonly ListedLateMoney[] | null;
}

/**
 * A page of payments. The index that fits filter and order first gives the ids of the page. Then only the rows of the page are read,
 * because they are scattered over the whole table.
 */
export function listPayments(db: Reader, query: PaymentPageQuery) {
  const direction = directionOf(db, query);
  const amount = majorUnits(db, db`p."amountValue"`, db`p."amountDecimals"`);
  return db<ListedPayment[]>`
    with page as materialized (${pageIds(db, query)})
    select p.*, page.name as "merchantName", page.icon_url as "merchantIconUrl", i.asked, i.fee_terms as "feeTerms",
      s.asset as "settledAsset", s.amount as "settledAmount", s.transaction_hash as "settledHash", s.at as "settledAt",
      r.refunds, l."lateMoney"
    from (select ${paymentColumns(db)} from payments where id = any(array(select id from page))) p
    join page on page.id = p.id
    left join lateral (${payingItem(db)}) i on true
    left join payment_settlements s on s.payment_id = p.id
    left join lateral (
      select json_agg(json_build_object('id', r.id, 'state', r.state, 'problem', r.problem, 'network', r.network, 'asset', r.asset,
        'recipient', r.recipient, 'amount', r.amount::text, 'price', coalesce(r.price_value, p."amountValue")::text,
        'reason', r.reason, 'transactionHash', r.transaction_hash, 'requestedAt', r.requested_at,
        'updatedAt', r.updated_at) order by r.number) as refunds
      from refunds r where r.payment_id = p.id
    ) r on true
    left join lateral (${lateMoneyOf(db)}) l on true
    order by ${query.sortBy === 'date' ? db`` : db`${amount} ${direction},`} p.id ${direction}`;
}

/** The SQL query for the late money of the payment `p`. */
function lateMoneyOf(db: Reader): Fragment {
  return db`
    select json_agg(json_build_object('id', s.id, 'reason', s.reason, 'state', s.state, 'asset', s.asset,
      'amount', s.amount::text) order by s.seen_at, s.id) as "lateMoney"
    from strays s where s.payment_id = p.id and s.state = any(${LATE_STATES as unknown as string[]}::text[])`;
}

/** The SQL query for the terms of the item that paid the payment `p`. */
function payingItem(db: Reader): Fragment {
  return db`
    select json_build_object('asset', asset, 'amount', amount::text, 'fee', fee::text, 'seal', seal) as asked, fee_terms
    from items i
    where p.status = 'succeeded' and subject = p.id and ${isPayingItem(db)}
    limit 1`;
}

/** The SQL query for the ids of a page, with `name` and `icon_url` of their merchants. It reads only indexes to find the ids. */
export function pageIds(db: Reader, query: PaymentPageQuery): Fragment {
  const order = orderOf(db, query);
  if (query.named !== undefined) return namedIds(db, query, order, query.named);
  if (query.merchantIds === null && query.referencePart === undefined) return partnerPageIds(db, query);
  const branches = query.sortBy === 'date' ? byDate(db, query, order) : byAmount(db, query, order);
  return pageOf(db, query, order, branches);
}

function byDate(db: Reader, query: PaymentPageQuery, order: PageOrder): Fragment[] {
  if (query.referencePart !== undefined) return [found(db, query, order)];
  if (hasTokens(query)) return [byToken(db, query, order), ...open(db, query, order)];
  const statuses = storedStatuses(query);
  if (!isOverdueAlone(query)) return [byStatus(db, query, order, statuses)];
  const closed = statuses.filter((status) => status !== 'requires_action');
  return [byStatus(db, query, order, closed), ...open(db, query, order)];
}

function byAmount(db: Reader, query: PaymentPageQuery, order: PageOrder): Fragment[] {
  return query.referencePart === undefined
    ? [closedByAmount(db, query, order), ...open(db, query, order)]
    : [found(db, query, order)];
}

function namedIds(db: Reader, query: PaymentPageQuery, order: PageOrder, name: PaymentName): Fragment {
  const { amount, isNext, page } = order;
  return db`
    select p.id, m.name, m.icon_url
    from (
      select p.id, p.merchant_id, ${amount} as amount from (${namedMatches(db, query, name)}) p where ${isNext} ${page}
    ) p join merchants m on m.id = p.merchant_id`;
}

/**
 * The SQL query that merges the first rows of each merchant. They are read by indexes in the order of the page, because any other index
 * would have to be read to its end.
 */
function pageOf(db: Reader, query: PaymentPageQuery, { page }: PageOrder, branches: readonly Fragment[]): Fragment {
  return db`
    select p.id, m.name, m.icon_url from merchants m
    cross join lateral (${unionAll(db, branches)}) p
    where ${isAmong(db, query)} ${page}`;
}

/** The SQL rows of one merchant, from one range of the index `payments_by_status` for each status. */
function byStatus(
  db: Reader,
  query: PaymentPageQuery,
  { amount, isNext, page }: PageOrder,
  statuses: string[],
): Fragment {
  return db`(
    select p.* from unnest(${statuses}::text[]) as s(status)
    cross join lateral (
      select p.id, ${amount} as amount from payments p
      where ${isOfMerchant(db, query)} and p.status = s.status and ${isMatch(db, query)} and ${isNext} ${page}
    ) p
  )`;
}

/** The SQL rows of one merchant, from one range of the index `payments_by_amount` for each status. The index contains no open payments. */
function closedByAmount(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  return db`(
    select p.* from unnest(${storedStatuses(query)}::text[]) as s(status)
    cross join lateral (
      select p.id, ${amount} as amount from payments p
      where ${isOfMerchant(db, query)} and p.status = s.status and ${isClosed(db)} and ${isClosedMatch(db, query)}
        and ${isNext} ${page}
    ) p
  )`;
}

/** The SQL rows of one merchant, from one range of the index `payments_by_token` for each token. The index contains no open payments. */
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

/**
 * The SQL rows of a merchant's open payments that match. With a token filter they are few: only payments that were offered to a payer have
 * a token.
 */
function open(db: Reader, query: PaymentPageQuery, order: PageOrder): readonly Fragment[] {
  const offered = db`payments p where ${isOfMerchant(db, query)} and p.status = 'requires_action'
    and p.token_asset is not null`;
  const overdue = db`(${overduePayments(db, db`*`, query.now)}) p where ${isOfMerchant(db, query)}`;
  if (!isOpenWanted(query)) return [];
  const others = isOverdueAlone(query) ? [overdue] : Object.values(openSources(db, query));
  return (hasTokens(query) ? [offered] : others).map(
    (source) => db`(
      select p.id, ${order.amount} as amount from ${source} and ${isMatch(db, query)} and ${order.isNext} ${order.page}
    )`,
  );
}

/** The SQL rows of one merchant that a search finds. No index contains them in the order of the page. */
function found(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment {
  return db`(
    select p.id, ${amount} as amount from (${matchesOfMerchant(db, query)}) p where ${isNext} ${page}
  )`;
}
