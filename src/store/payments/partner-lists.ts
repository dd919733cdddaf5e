import { firstIdAt } from '../../domain/ids.ts';
import { PAYMENT_STATUSES } from '../../domain/payment.ts';
import type { Reader } from '../plumbing/database.ts';
import { directionOf, orderOf, type PageOrder, type PaymentPageQuery } from './page-order.ts';
import {
  type Fragment,
  firstRecentId,
  hasTokens,
  isAmong,
  isClosed,
  isInRange,
  isOfPartner,
  isTokenMatch,
  lifeOf,
  overduePayments,
  type PaymentFilter,
  seenStatus,
  unionAll,
} from './payment-filter.ts';

/** An id that is greater than every payment id of this millennium. */
const LAST_ID = firstIdAt('pay_', 2 ** 47);
const OPEN = 'requires_action';
const CLOSED = PAYMENT_STATUSES.filter((status) => status !== OPEN);

/**
 * The SQL query for the ids of a page over all merchants of a partner, with the merchants' `name` and `icon_url`. The index by partner has
 * a section for each status and token, in the order of the page. The first rows of these sections are merged. So the cost for closed
 * payments does not depend on the number of merchants.
 */
export function partnerPageIds(db: Reader, query: PaymentPageQuery): Fragment {
  const isUnfiltered = query.statuses === undefined && !hasTokens(query);
  if (query.sortBy === 'date' && isUnfiltered) return firstIds(db, query);
  const order = orderOf(db, query, idOfPart(db));
  const closed = mergedParts(db, query, order, closedOf(query), isClosed(db));
  const branches = [closed, ...openOnes(db, query, order), ...overdue(db, query, order)];
  return db`
    select p.id, m.name, m.icon_url
    from (select p.id from (${unionAll(db, branches)}) p ${order.page}) i
    join payments p on p.id = i.id join merchants m on m.id = p.merchant_id`;
}

/** The SQL query for a page without filters: every payment of the partner matches, so the page is the first rows of an index. */
function firstIds(db: Reader, query: PaymentPageQuery): Fragment {
  const { isNext, page } = orderOf(db, query);
  return db`
    select p.id, m.name, m.icon_url
    from (
      select p.id, p.merchant_id from payments p
      where ${isOfPartner(db, query)} and ${isInRange(db, query)} and ${isNext} ${page}
    ) p join merchants m on m.id = p.merchant_id`;
}

function closedOf({ statuses = CLOSED }: PaymentFilter): readonly string[] {
  return CLOSED.filter((status) => statuses.includes(status));
}

/** The id in the collation of the index `payments_of_partner`. */
const idOfPart = (db: Reader) => db`p.id collate "C"`;

/**
 * The SQL rows that come first in each section of the index by partner: one section for each of these statuses and each wanted token in
 * use. The tokens in use are found by one index lookup each.
 */
function mergedParts(
  db: Reader,
  query: PaymentPageQuery,
  { amount, isNext, page }: PageOrder,
  statuses: readonly string[],
  isIndexed: Fragment,
): Fragment {
  const token = db`coalesce(p.token_asset, '')`;
  const payments = db`from payments p where ${isOfPartner(db, query)} and p.status = s.status and ${isIndexed}`;
  return db`(
    select p.* from unnest(${statuses as string[]}::text[]) as s(status)
    cross join lateral (
      with recursive found as (
        (select ${token} as token ${payments} order by ${token} limit 1)
        union all
        select (select ${token} ${payments} and ${token} > found.token order by ${token} limit 1)
        from found where found.token is not null
      )
      select token from found where token is not null and ${isTokenMatch(db, query, db`token`)}
    ) t
    cross join lateral (
      select p.id, ${amount} as amount ${payments} and ${token} = t.token
        and ${isInRange(db, query, idOfPart(db))} and ${isNext} ${page}
    ) p
  )`;
}

/** The SQL rows of open payments that are not overdue. Without a filter on statuses, the rows of all open payments. */
function openOnes(db: Reader, query: PaymentPageQuery, order: PageOrder): Fragment[] {
  const { statuses, now, sortBy } = query;
  if (statuses !== undefined && !statuses.includes(OPEN)) return [];
  const isOpen = db`p.status = 'requires_action' and ${statuses === undefined ? db`true` : db`p.expires_at > ${now}`}`;
  const ofMerchant = (isWanted: Fragment) => ofEachMerchant(db, query, order, db`${isOpen} and ${isWanted}`);
  // With a token filter the rows are few, because only payments that were offered to a payer have a token.
  if (hasTokens(query)) return [ofMerchant(db`p.token_asset is not null`)];
  if (sortBy === 'date') return [ofMerchant(db`true`)];
  const isLong = db`p.status = 'requires_action' and ${lifeOf(db)} > interval '48 hours'`;
  return [
    mergedParts(db, query, order, [OPEN], db`${isLong} and ${isOpen}`),
    ofMerchant(db`p.id >= ${firstRecentId(query)} and ${lifeOf(db)} <= interval '48 hours'`),
  ];
}

/**
 * The SQL rows that come first for each merchant, read by the indexes of merchants. There is no index by partner that contains all open
 * payments.
 */
function ofEachMerchant(
  db: Reader,
  query: PaymentPageQuery,
  { amount, isNext }: PageOrder,
  isWanted: Fragment,
): Fragment {
  const rows = (end: Fragment) => db`
    select p.* from merchants m
    cross join lateral (
      select p.id, ${amount} as amount from payments p
      where p.merchant_id = m.id and ${isWanted} and ${isInRange(db, query)}
        and ${isTokenMatch(db, query, db`p.token_asset`)} and ${isNext} ${end}
    ) p where ${isAmong(db, query)}`;
  const { page } = orderOf(db, query);
  if (query.sortBy === 'amount') return db`(${rows(page)})`;
  // `bound` is the last id that the page can contain. If each of `limit` merchants has a row, these first rows alone fill a page, and later
  // rows are not on it.
  const firsts = rows(orderOf(db, { ...query, limit: 1 }).page);
  const bound = db`(select p.id from (${firsts}) p order by p.id ${directionOf(db, query)} offset ${query.limit - 1} limit 1)`;
  const isBefore =
    query.sortDir === 'asc' ? db`p.id <= coalesce(${bound}, ${LAST_ID})` : db`p.id >= coalesce(${bound}, '')`;
  return db`(${rows(db`and ${isBefore} ${page}`)})`;
}

/**
 * The SQL rows of overdue payments that no job has ended yet, which are few. Without a filter on statuses, only those that no other branch
 * of the query finds: payments with a short life and an old id, if the page is sorted by amount.
 */
function overdue(db: Reader, query: PaymentPageQuery, { amount, isNext, page }: PageOrder): Fragment[] {
  const { statuses, now } = query;
  if (statuses === undefined && (query.sortBy === 'date' || hasTokens(query))) return [];
  if (statuses !== undefined && !statuses.some((status) => status === 'expired' || status === 'processing')) return [];
  const isWanted =
    statuses === undefined
      ? db`${lifeOf(db)} <= interval '48 hours' and p.id < ${firstRecentId(query)}`
      : db`${seenStatus(db, now)} = any(${statuses as string[]}::text[])`;
  return [
    db`(
      select p.id, ${amount} as amount from (${overduePayments(db, db`*`, now)}) p
      where ${isOfPartner(db, query)} and ${isWanted} and ${isInRange(db, query)}
        and ${isTokenMatch(db, query, db`p.token_asset`)} and ${isNext} ${page}
    )`,
  ];
}
