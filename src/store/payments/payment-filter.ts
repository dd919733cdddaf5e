import { firstIdAt } from '../../domain/ids.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment.ts';
import type { Owner } from '../parties/merchants.ts';
import type { Reader } from '../plumbing/database.ts';

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
  /** A part of the reference id, in any case. */
  readonly referencePart: string | undefined;
  /** This payment, the payments of a transaction, or those of a payer. */
  readonly named?: PaymentName | undefined;
  readonly now: Date;
}

/** A name that leads to few payments, whatever the number of merchants. */
export type PaymentName =
  | { readonly by: 'id'; readonly id: string }
  /** Payments that the transaction has paid, and those whose payout or refund it has carried out. */
  | { readonly by: 'transaction'; readonly hash: string; readonly paymentIds: readonly string[] }
  /** The address in lower case, on one chain or on any. */
  | { readonly by: 'payer'; readonly address: string; readonly chainId: string | undefined };

/** A part of a statement. */
export type Fragment = ReturnType<Reader>;

/** All payments that match, as a table `p`. */
export function matchesOf(db: Reader, filter: PaymentFilter): Fragment {
  if (filter.named !== undefined) return db`(${namedMatches(db, filter, filter.named)}) p`;
  if (filter.merchantIds === null && filter.referencePart === undefined) {
    return db`(
      select * from payments p
      where ${isOfPartner(db, filter)} and p.status = any(${storedStatuses(filter)}::text[]) and ${isMatch(db, filter)} offset 0
    ) p`;
  }
  return db`(
    select p.* from merchants m cross join lateral (${matchesOfMerchant(db, filter)}) p where ${isAmong(db, filter)}
  ) p`;
}

export function isOfPartner(db: Reader, { partnerId, mode }: PaymentFilter): Fragment {
  return db`p.partner_id = ${partnerId} and p.mode = ${mode}`;
}

/**
 * The payments of that name that match, in the order of the index. Neither the owner nor the merchant is a condition on a
 * column of `p`, so that no index but that of the name fits. The planner would combine it with one of the merchant.
 */
export function namedMatches(db: Reader, filter: PaymentFilter, name: PaymentName): Fragment {
  const { statuses, now } = filter;
  return db`
    select p.* from payments p join merchants m on m.id = p.merchant_id || ''
    where ${isNamed(db, filter, name)} and ${isAmong(db, filter)} and ${isMatch(db, filter)}
      and ${statuses === undefined ? db`true` : db`${seenStatus(db, now)} = any(${statuses as string[]}::text[])`}`;
}

function isNamed(db: Reader, { partnerId, mode }: PaymentFilter, name: PaymentName): Fragment {
  if (name.by === 'id') return db`p.id = ${name.id}`;
  if (name.by === 'transaction') {
    const { hash, paymentIds } = name;
    return paymentIds.length === 0
      ? db`p.transaction_hash = ${hash}`
      : db`p.id = any(array(select id from payments where transaction_hash = ${hash}) || ${paymentIds as string[]}::text[])`;
  }
  const address = db`lower(split_part(p.buyer_account, ':', 3))`;
  const chain = db`split_part(p.buyer_account, ':', 1) || ':' || split_part(p.buyer_account, ':', 2)`;
  return db`p.buyer_account is not null
    and hashtextextended(p.partner_id || p.mode || ${address}, 0)
      = hashtextextended(${partnerId} || ${mode} || ${name.address}, 0)
    and ${address} = ${name.address}
    and ${name.chainId === undefined ? db`true` : db`${chain} = ${name.chainId}`}`;
}

/**
 * The payments of the merchant `m` that match. Those of a search are found by `payments_by_folded_reference`, and by the sources of
 * open payments. All others are found by `payments_by_status`. The `offset` keeps the planner from going through the
 * payments of all merchants.
 */
export function matchesOfMerchant(db: Reader, filter: PaymentFilter): Fragment {
  if (filter.referencePart === undefined) {
    return db`
      select p.* from unnest(${storedStatuses(filter)}::text[]) as s(status)
      cross join lateral (
        select * from payments p
        where ${isOfMerchant(db, filter)} and p.status = s.status and ${isMatch(db, filter)} offset 0
      ) p`;
  }
  const hasPart = hasReferencePart(db, filter, filter.referencePart);
  const closed = db`(
    select * from payments p
    where ${isOfMerchant(db, filter)} and ${isClosed(db)} and ${hasPart} and ${isClosedMatch(db, filter)} offset 0
  )`;
  if (!isOpenWanted(filter)) return closed;
  const { recent, longLived, unswept } = openSources(db, filter);
  const sources = [recent, db`${longLived} and ${hasPart}`, unswept];
  return unionAll(db, [
    closed,
    ...sources.map((source) => db`(select p.* from ${source} and ${isMatch(db, filter)} offset 0)`),
  ]);
}

/** The index finds payments that have the parts of the text, in any order. */
function hasReferencePart(db: Reader, filter: PaymentFilter, text: string): Fragment {
  return db`reference_parts(p.merchant_id, lower(p.reference_id))
      @> reference_cover(${merchantOf(db, filter)}, lower(${text}))
    and ${hasText(db, text)}`;
}

function hasText(db: Reader, text: string): Fragment {
  return db`strpos(lower(p.reference_id), lower(${text})) > 0`;
}

/**
 * A payment of the merchant `m`. A single merchant is named by its id, because the planner knows the number of its
 * payments then. Otherwise it expects the average of all merchants, and takes an index without the order of the page.
 */
export function isOfMerchant(db: Reader, filter: PaymentFilter): Fragment {
  return db`p.merchant_id = ${merchantOf(db, filter)}`;
}

function merchantOf(db: Reader, { merchantIds }: PaymentFilter): Fragment {
  const [id, ...others] = merchantIds ?? [];
  return id === undefined || others.length > 0 ? db`m.id` : db`${id}::text`;
}

/** The statuses in the table that may be seen as one of the wanted ones: an overdue open payment is seen as over. */
export function storedStatuses(filter: PaymentFilter): string[] {
  const { statuses = PAYMENT_STATUSES } = filter;
  const isWanted = (status: PaymentStatus) =>
    status === 'requires_action' ? isOpenWanted(filter) : statuses.includes(status);
  return PAYMENT_STATUSES.filter(isWanted);
}

export function isOpenWanted({ statuses = PAYMENT_STATUSES }: PaymentFilter): boolean {
  return statuses.some((status) => SEEN_WHILE_OPEN.has(status));
}

/** True if of the open payments only overdue ones can match, which are few: a merchant may have any number of others. */
export function isOverdueAlone({ statuses }: PaymentFilter): boolean {
  return statuses !== undefined && !statuses.includes('requires_action');
}

export function hasTokens({ assets, networks }: PaymentFilter): boolean {
  return assets !== undefined || networks !== undefined;
}

const SEEN_WHILE_OPEN: ReadonlySet<PaymentStatus> = new Set(['requires_action', 'processing', 'expired']);

/** The predicate of the indexes that leave open payments out. */
export const isClosed = (db: Reader) => db`p.status <> 'requires_action'`;

export function isAmong(db: Reader, { partnerId, mode, merchantIds }: PaymentFilter): Fragment {
  return db`m.partner_id = ${partnerId} and m.mode = ${mode}
    and ${merchantIds === null ? db`true` : db`m.id = any(${merchantIds as string[]}::text[])`}`;
}

/** Uses only columns of `payments_by_status`, so that the index alone is enough. */
export function isMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { statuses, referencePart, now } = filter;
  const isSeen = db`(p.status <> 'requires_action' or ${seenStatus(db, now)} = any(${statuses as string[]}::text[]))`;
  return db`${isInRange(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)}
    and ${statuses === undefined ? db`true` : isSeen}
    and ${referencePart === undefined ? db`true` : hasText(db, referencePart)}`;
}

/** The filters for a payment that is not open, without the search. */
export function isClosedMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { statuses } = filter;
  return db`${isInRange(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)}
    and ${statuses === undefined ? db`true` : db`p.status = any(${statuses as string[]}::text[])`}`;
}

/** A payment that was made in the time range, by its id. */
export function isInRange(db: Reader, { fromMs, untilMs }: PaymentFilter, id = db`p.id`): Fragment {
  return db`${fromMs === undefined ? db`true` : db`${id} >= ${firstIdAt('pay_', fromMs)}`}
    and ${untilMs === undefined ? db`true` : db`${id} < ${firstIdAt('pay_', untilMs)}`}`;
}

/** True if the payments are found by a text or a name, and are few. */
export function isSearch({ referencePart, named }: PaymentFilter): boolean {
  return referencePart !== undefined || named !== undefined;
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

/** Longer than most payments are open. Longer-lived ones are in indexes of their own, so that creating the others is cheap. */
const LONG_MS = 48 * 3_600_000;
/** More than the time of an id and the time of its payment can differ. */
const MARGIN_MS = 3_600_000;

/**
 * The open payments of the merchant `m`, each in one of three sources `p`. A merchant may have any number of old ones that
 * live for weeks, and an index has their order. The new ones are those of two days. An old one that does not live long is
 * overdue, and the sweeper is about to end it.
 */
export function openSources(db: Reader, filter: PaymentFilter) {
  const isOpen = db`${isOfMerchant(db, filter)} and p.status = 'requires_action'`;
  const firstId = firstRecentId(filter);
  const life = lifeOf(db);
  return {
    recent: db`payments p where ${isOpen} and p.id >= ${firstId}`,
    longLived: db`payments p where ${isOpen} and ${life} > interval '48 hours' and p.id < ${firstId}`,
    unswept: db`(${overduePayments(db, db`*`, filter.now)}) p
      where ${isOpen} and ${life} <= interval '48 hours' and p.id < ${firstId}`,
  };
}

/** An open payment with an id before this one either lives long or is overdue. */
export function firstRecentId({ now }: Pick<PaymentFilter, 'now'>): string {
  return firstIdAt('pay_', now.getTime() - LONG_MS - MARGIN_MS);
}

export const lifeOf = (db: Reader) => db`p.expires_at - p.created_at`;

/**
 * The payments of all merchants that the sweeper and the watcher have yet to check. With a filter on one merchant the
 * planner might scan all payments of that merchant instead of these few.
 */
export function overduePayments(db: Reader, columns: Fragment, now: Date): Fragment {
  return db`
    select ${columns} from payments p
    where status = 'requires_action' and native_deadline is null and expires_at <= ${now}
    union all
    select ${columns} from payments p
    where status = 'requires_action' and native_deadline is not null and expires_at <= ${now}
    offset 0`;
}

export function unionAll(db: Reader, [first = db``, ...others]: readonly Fragment[]): Fragment {
  return others.reduce((all, other) => db`${all} union all ${other}`, first);
}
