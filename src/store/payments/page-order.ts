import type { Reader } from '../plumbing/database.ts';
import type { Fragment, PaymentFilter } from './payment-filter.ts';

export interface PaymentPageQuery extends PaymentFilter {
  readonly sortBy: 'date' | 'amount';
  readonly sortDir: 'asc' | 'desc';
  /** The last payment of the page before this one. Undefined for the first page. */
  readonly afterId: string | undefined;
  readonly limit: number;
}

export interface PageOrder {
  /** The SQL amount of a payment `p` by which the page is sorted. Null if it is sorted by date. */
  readonly amount: Fragment;
  readonly isNext: Fragment;
  /** The SQL order and limit of rows `p` with `id` and `amount`. */
  readonly page: Fragment;
}

/** The SQL parts that sort and limit a page. Ids begin with their creation time, so the order by id is the order by date. */
export function orderOf(
  db: Reader,
  { sortBy, sortDir, afterId, limit }: PaymentPageQuery,
  idByDate = db`p.id`,
): PageOrder {
  const direction = directionOf(db, { sortDir });
  const after = sortDir === 'asc' ? db`>` : db`<`;
  if (sortBy === 'date') {
    return {
      amount: db`null`,
      isNext: afterId === undefined ? db`true` : db`${idByDate} ${after} ${afterId}`,
      page: db`order by ${idByDate} ${direction} limit ${limit}`,
    };
  }
  const amount = majorUnits(db, db`p.amount_value`, db`p.amount_decimals`);
  return {
    amount,
    isNext:
      afterId === undefined
        ? db`true`
        : db`(${amount}, p.id) ${after} (select ${amount}, p.id from payments p where p.id = ${afterId})`,
    page: db`order by amount ${direction}, id ${direction} limit ${limit}`,
  };
}

export function directionOf(db: Reader, { sortDir }: Pick<PaymentPageQuery, 'sortDir'>): Fragment {
  return sortDir === 'asc' ? db`asc` : db`desc`;
}

/**
 * An SQL amount that can be compared with amounts in other units: the amount in major units, times 10^36. It is a whole number, because no
 * unit has more than 36 decimals, so nothing is rounded. The indexes by amount use the same expression. The powers for dollars and the
 * usual tokens are constants, because computing them would take longer than everything else.
 */
export function majorUnits(db: Reader, value: Fragment, decimals: Fragment): Fragment {
  return db`(${value} * case ${decimals} when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
    else power(10::numeric, 36 - ${decimals}) end)`;
}
