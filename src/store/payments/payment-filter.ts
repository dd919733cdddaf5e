import { firstIdAt } from '../../domain/ids.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment.ts';
import type { Owner } from '../parties/merchants.ts';
import { caipKeySql } from '../plumbing/address-key.ts';
import type { Reader } from '../plumbing/database.ts';

/** The filter of a list of payments. A field that is undefined does not narrow it. */
export interface PaymentFilter extends Owner {
  /** Selects the payments of these merchants, as far as they belong to the owner. Null selects all merchants of the owner. */
  readonly merchantIds: readonly string[] | null;
  /** Selects payments that were created at this time or later. */
  readonly fromMs: number | undefined;
  /** Selects payments that were created before this time. */
  readonly untilMs: number | undefined;
  /** Selects payments whose token is one of these assets. `networks` selects those whose token is on one of these networks. */
  readonly assets: readonly string[] | undefined;
  readonly networks: readonly string[] | undefined;
  /**
   * Selects payments with one of these visible statuses. An overdue payment that no job has ended yet is visible as `expired` or
   * `processing`.
   */
  readonly statuses: readonly PaymentStatus[] | undefined;
  /** Selects payments whose reference id contains this text, in upper or lower case. */
  readonly referencePart: string | undefined;
  /** Selects one payment by its id, the payments of one transaction, or the payments of one payer. */
  readonly named?: PaymentName | undefined;
  readonly now: Date;
}

/** A search term that few payments match, even if the partner has many merchants. */
export type PaymentName =
  | { readonly by: 'id'; readonly id: string }
  /** Payments that the transaction on chain has paid, and payments whose payout or refund it has executed. */
  | { readonly by: 'transaction'; readonly hash: string; readonly paymentIds: readonly string[] }
  /** Payments of the address in any of its spellings. Without `chainId`, on any network. */
  | { readonly by: 'payer'; readonly address: string; readonly chainId: string | undefined };

export type Fragment = ReturnType<Reader>;

/** The SQL table `p` of all matching payments. */
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
 * The SQL rows of the payments that match both the name and the filter, in the order of the name's index. The conditions on owner and
 * merchant use no column of `p`, so that only this index fits them. Otherwise the planner would combine it with an index by merchant.
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
  // The index contains every address in lower case. The address's family decides whether case matters, so the whole text is compared
  // afterwards.
  const folded = db`lower(split_part(p.buyer_account, ':', 3))`;
  const named = db`split_part(p.buyer_account, ':', 1) || ':' || split_part(p.buyer_account, ':', 2) || ':' || ${name.address}`;
  const chain = db`split_part(p.buyer_account, ':', 1) || ':' || split_part(p.buyer_account, ':', 2)`;
  return db`p.buyer_account is not null
    and hashtextextended(p.partner_id || p.mode || ${folded}, 0)
      = hashtextextended(${partnerId} || ${mode} || lower(${name.address}), 0)
    and ${caipKeySql(db, db`p.buyer_account`)} = ${caipKeySql(db, db`(${named})`)}
    and ${name.chainId === undefined ? db`true` : db`${chain} = ${name.chainId}`}`;
}

/**
 * The SQL rows of the matching payments of the merchant `m`. A search uses the index `payments_by_folded_reference` and the sources of open
 * payments. Every other filter uses `payments_by_status`. `offset 0` prevents the planner from scanning the payments of all merchants.
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

/**
 * The SQL condition that the reference id contains a text. The index finds ids that contain the parts of the text in any order, so the text
 * itself is checked, too.
 */
function hasReferencePart(db: Reader, filter: PaymentFilter, text: string): Fragment {
  return db`reference_parts(p.merchant_id, lower(p.reference_id))
      @> reference_cover(${merchantOf(db, filter)}, lower(${text}))
    and ${hasText(db, text)}`;
}

function hasText(db: Reader, text: string): Fragment {
  return db`strpos(lower(p.reference_id), lower(${text})) > 0`;
}

/**
 * The SQL condition that a payment belongs to the merchant `m`. If the filter names a single merchant, the condition contains its id,
 * because then the planner knows how many payments it has. Otherwise the planner expects the average of all merchants, and chooses an index
 * without the order of the page.
 */
export function isOfMerchant(db: Reader, filter: PaymentFilter): Fragment {
  return db`p.merchant_id = ${merchantOf(db, filter)}`;
}

function merchantOf(db: Reader, { merchantIds }: PaymentFilter): Fragment {
  const [id, ...others] = merchantIds ?? [];
  return id === undefined || others.length > 0 ? db`m.id` : db`${id}::text`;
}

/**
 * The stored statuses of payments whose visible status can be a wanted one. An overdue open payment is visible as expired or processing.
 */
export function storedStatuses(filter: PaymentFilter): string[] {
  const { statuses = PAYMENT_STATUSES } = filter;
  const isWanted = (status: PaymentStatus) =>
    status === 'requires_action' ? isOpenWanted(filter) : statuses.includes(status);
  return PAYMENT_STATUSES.filter(isWanted);
}

export function isOpenWanted({ statuses = PAYMENT_STATUSES }: PaymentFilter): boolean {
  return statuses.some((status) => SEEN_WHILE_OPEN.has(status));
}

/**
 * True if the only open payments that can match are overdue ones. These are few, while a merchant may have any number of other open
 * payments.
 */
export function isOverdueAlone({ statuses }: PaymentFilter): boolean {
  return statuses !== undefined && !statuses.includes('requires_action');
}

export function hasTokens({ assets, networks }: PaymentFilter): boolean {
  return assets !== undefined || networks !== undefined;
}

const SEEN_WHILE_OPEN: ReadonlySet<PaymentStatus> = new Set(['requires_action', 'processing', 'expired']);

/** The SQL condition of the partial indexes that contain no open payments. */
export const isClosed = (db: Reader) => db`p.status <> 'requires_action'`;

export function isAmong(db: Reader, { partnerId, mode, merchantIds }: PaymentFilter): Fragment {
  return db`m.partner_id = ${partnerId} and m.mode = ${mode}
    and ${merchantIds === null ? db`true` : db`m.id = any(${merchantIds as string[]}::text[])`}`;
}

/**
 * The SQL condition that a payment matches the filter. It uses only columns of `payments_by_status`, so that an index-only scan is
 * possible.
 */
export function isMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { statuses, referencePart, now } = filter;
  const isSeen = db`(p.status <> 'requires_action' or ${seenStatus(db, now)} = any(${statuses as string[]}::text[]))`;
  return db`${isInRange(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)}
    and ${statuses === undefined ? db`true` : isSeen}
    and ${referencePart === undefined ? db`true` : hasText(db, referencePart)}`;
}

/** The SQL condition that a payment matches the filter, for payments that are not open. It ignores the filter's search text. */
export function isClosedMatch(db: Reader, filter: PaymentFilter): Fragment {
  const { statuses } = filter;
  return db`${isInRange(db, filter)} and ${isTokenMatch(db, filter, db`p.token_asset`)}
    and ${statuses === undefined ? db`true` : db`p.status = any(${statuses as string[]}::text[])`}`;
}

/** The SQL condition that a payment was created in the time range. It compares ids, because an id begins with its creation time. */
export function isInRange(db: Reader, { fromMs, untilMs }: PaymentFilter, id = db`p.id`): Fragment {
  return db`${fromMs === undefined ? db`true` : db`${id} >= ${firstIdAt('pay_', fromMs)}`}
    and ${untilMs === undefined ? db`true` : db`${id} < ${firstIdAt('pay_', untilMs)}`}`;
}

/** True if the filter has a text or a name to search for. Then few payments match. */
export function isSearch({ referencePart, named }: PaymentFilter): boolean {
  return referencePart !== undefined || named !== undefined;
}

export function isTokenMatch(db: Reader, { assets, networks }: PaymentFilter, asset: Fragment): Fragment {
  const chain = db`split_part(${asset}, '/', 1)`;
  return db`${assets === undefined ? db`true` : db`${asset} = any(${assets as string[]}::text[])`}
    and ${networks === undefined ? db`true` : db`${chain} = any(${networks as string[]}::text[])`}`;
}

/** The SQL form of `visibleStatus` (`domain/payment.ts`). */
export function seenStatus(db: Reader, now: Date): Fragment {
  return db`case when p.status <> 'requires_action' or p.expires_at > ${now} then p.status
    when p.native_deadline is null then 'expired' else 'processing' end`;
}

/**
 * A payment that may be open for longer has a long life. Most payments have a short life. Payments with a long life have separate indexes,
 * so that creating other payments stays cheap.
 */
const LONG_MS = 48 * 3_600_000;
/** A margin that is larger than any difference between the time in an id and the creation time of its payment. */
const MARGIN_MS = 3_600_000;

/**
 * The open payments of the merchant `m`, each in exactly one of three SQL sources `p`. `recent`: payments at most two days old.
 * `longLived`: older payments with a long life. A merchant may have any number of them, so they are read in the order of an index.
 * `unswept`: older payments with a short life. They are overdue, and a job is about to end them.
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

/** The id that separates recent open payments from older ones. An open payment with a lower id either has a long life or is overdue. */
export function firstRecentId({ now }: Pick<PaymentFilter, 'now'>): string {
  return firstIdAt('pay_', now.getTime() - LONG_MS - MARGIN_MS);
}

export const lifeOf = (db: Reader) => db`p.expires_at - p.created_at`;

/**
 * The SQL rows of the overdue payments of all merchants, which the expiry job and the watcher have not processed yet. The rows are not
 * filtered by merchant here, because the planner might then scan all payments of that merchant instead of these few.
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
