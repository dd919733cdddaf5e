import type { Reader } from '../plumbing/database.ts';
import type { Fragment, PaymentFilter } from './payment-filter.ts';

export interface PaymentPageQuery extends PaymentFilter {
  readonly sortBy: 'date' | 'amount';
  readonly sortDir: 'asc' | 'desc';
  /** Only payments after this one. */
  readonly afterId: string | undefined;
  readonly limit: number;
}

/** How a page is ordered and where it begins. */
export interface PageOrder {
  /** The amount of a payment `p` to sort by; null for the order by date. */
  readonly amount: Fragment;
  readonly isNext: Fragment;
  /** Order and limit of rows `p` with `id` and `amount`. */
  readonly page: Fragment;
}

/** Ids begin with the time they were made at, so the order by id is the order by date. */
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
 * An amount that can be compared with those of other units: a whole number, so that nothing is ever rounded. No unit has
 * more than 36 decimals. The expression is that of the indexes by amount. The powers for dollars and the usual tokens are
 * written down: computing them takes longer than the rest.
 */
export function majorUnits(db: Reader, value: Fragment, decimals: Fragment): Fragment {
  return db`(${value} * case ${decimals} when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
    else power(10::numeric, 36 - ${decimals}) end)`;
}
