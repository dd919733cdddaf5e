import { firstIdAt } from '../../domain/ids.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
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
  /** Its refund; all null if none was requested. */
  readonly refundState: RefundState | null;
  readonly refundAsset: string | null;
  readonly refundAmount: string | null;
  readonly refundHash: string | null;
  readonly refundRequestedAt: Date | null;
  readonly refundUpdatedAt: Date | null;
}

/**
 * One page. The ids of the page are selected first, which for given merchants needs only an index. Then only the rows
 * of the page are read: they are scattered over the whole table.
 */
export function listPayments(db: Reader, query: PaymentPageQuery) {
  const direction = query.sortDir === 'asc' ? db`asc` : db`desc`;
  const ids = query.sortBy === 'date' ? idsByDate(db, query, direction) : idsByAmount(db, query, direction);
  const amount = majorUnits(db, db`p."amountValue"`, db`p."amountDecimals"`);
  return db<ListedPayment[]>`
    with page as materialized (${ids})
    select p.*, page.name as "merchantName", page.icon_url as "merchantIconUrl", i.fee, i.fee_terms as "feeTerms",
      s.asset as "settledAsset", s.amount as "settledAmount", s.transaction_hash as "settledHash", s.at as "settledAt",
      r.state as "refundState", r.asset as "refundAsset", r.amount as "refundAmount",
      r.transaction_hash as "refundHash", r.requested_at as "refundRequestedAt", r.updated_at as "refundUpdatedAt"
    from (select ${paymentColumns(db)} from payments where id = any(array(select id from page))) p
    join page on page.id = p.id
    left join lateral (
      select fee, fee_terms from items
      where p.status = 'succeeded' and subject = p.id and state = 'paid'
        and end_reason is distinct from 'paid_after_end'
      limit 1
    ) i on true
    left join payment_settlements s on s.payment_id = p.id
    left join refunds r on r.payment_id = p.id
    order by ${query.sortBy === 'date' ? db`` : db`${amount} ${direction},`} p.id ${direction}`;
}

/** A part of a statement. */
type Fragment = ReturnType<typeof paymentColumns>;

/** Ids begin with the time they were made at, so this is the order by date. */
function idsByDate(db: Reader, query: PaymentPageQuery, direction: Fragment): Fragment {
  const { partnerId, mode, merchantIds, statuses, assets, networks, referencePart, afterId } = query;
  const after = query.sortDir === 'asc' ? db`>` : db`<`;
  const isNext = afterId === undefined ? db`true` : db`p.id ${after} ${afterId}`;
  const matching = db`${isMatch(db, query)} and ${isNext}`;
  const page = db`order by p.id ${direction} limit ${query.limit}`;
  const isDense = [statuses, assets, networks, referencePart].every((value) => value === undefined);
  // If every payment matches, the first rows are the page. If few may match, a scan until the page is full could read
  // the whole table; then each merchant's payments are searched in its part of the index.
  if (merchantIds === null && isDense) {
    return db`
      select p.id, m.name, m.icon_url
      from (
        select p.id, p.merchant_id from payments p
        where p.partner_id = ${partnerId} and p.mode = ${mode} and ${matching} ${page}
      ) p join merchants m on m.id = p.merchant_id`;
  }
  return db`
    select p.id, m.name, m.icon_url from merchants m
    cross join lateral (select p.id from payments p where p.merchant_id = m.id and ${matching} ${page}) p
    where ${isAmong(db, query)} ${page}`;
}

/** No index has this order: everything that matches is looked at. */
function idsByAmount(db: Reader, query: PaymentPageQuery, direction: Fragment): Fragment {
  const after = query.sortDir === 'asc' ? db`>` : db`<`;
  const amount = majorUnits(db, db`p.amount_value`, db`p.amount_decimals`);
  const isNext =
    query.afterId === undefined
      ? db`true`
      : db`(${amount}, p.id) ${after} (select ${amount}, p.id from payments p where p.id = ${query.afterId})`;
  return db`
    select p.id, p.name, p.icon_url from ${matchesOf(db, query)} where ${isNext}
    order by ${amount} ${direction}, p.id ${direction} limit ${query.limit}`;
}

/** The most decimals a unit may have. */
const MOST_DECIMALS = 36;

/** An amount that can be compared with those of other units: a whole number, so that nothing is ever rounded. */
function majorUnits(db: Reader, value: Fragment, decimals: Fragment): Fragment {
  return db`${value} * ('1e' || (${MOST_DECIMALS}::int - ${decimals}))::numeric`;
}

/**
 * All payments that match, each with its merchant's name and icon, as a table `p`. Merchants are taken one by one, each
 * by its part of `payments_by_merchant`: the `offset` keeps the planner from going through the payments of all merchants
 * and sorting out theirs.
 */
export function matchesOf(db: Reader, filter: PaymentFilter): Fragment {
  return db`(
    select p.*, m.name, m.icon_url from merchants m
    cross join lateral (select * from payments p where p.merchant_id = m.id and ${isMatch(db, filter)} offset 0) p
    where ${isAmong(db, filter)}
  ) p`;
}

function isAmong(db: Reader, { partnerId, mode, merchantIds }: PaymentFilter): Fragment {
  return db`m.partner_id = ${partnerId} and m.mode = ${mode}
    and ${merchantIds === null ? db`true` : db`m.id = any(${merchantIds as string[]}::text[])`}`;
}

/** Uses only columns of `payments_by_merchant`, so that the index alone is enough. */
function isMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { fromMs, untilMs, assets, networks, statuses, referencePart, now } = filter;
  const chain = db`split_part(p.token_asset, '/', 1)`;
  return db`
    ${fromMs === undefined ? db`true` : db`p.id >= ${firstIdAt('pay_', fromMs)}`}
    and ${untilMs === undefined ? db`true` : db`p.id < ${firstIdAt('pay_', untilMs)}`}
    and ${assets === undefined ? db`true` : db`p.token_asset = any(${assets as string[]}::text[])`}
    and ${networks === undefined ? db`true` : db`${chain} = any(${networks as string[]}::text[])`}
    and ${statuses === undefined ? db`true` : db`${seenStatus(db, now)} = any(${statuses as string[]}::text[])`}
    and ${referencePart === undefined ? db`true` : db`strpos(p.reference_id, ${referencePart}) > 0`}`;
}

/** `visibleStatus` of `domain/payment.ts`, in SQL. */
export function seenStatus(db: Reader, now: Date): Fragment {
  return db`case when p.status <> 'requires_action' or p.expires_at > ${now} then p.status
    when p.native_deadline is null then 'expired' else 'processing' end`;
}
