import type { Reader } from '../plumbing/database.ts';
import type { Fragment, PaymentFilter } from './payment-filter.ts';

export interface PaymentPageQuery extends PaymentFilter {
  readonly sortBy: 'date' | 'amount';
  readonly sortDir: 'asc' | 'desc';
  /** Only payments after this one in the list. */
  readonly afterId: string | undefined;
  readonly limit: number;
}

export interface PageOrder {
  /** The amount of a payment `p` to sort by. Null for the order by date. */
  readonly amount: Fragment;
  readonly isNext: Fragment;
  /** The order and limit of rows `p` with `id` and `amount`. */
  readonly page: Fragment;
}

/** Ids begin with their creation time, so the order by id is the order by date. */
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
 * An amount that can be compared with amounts in other units. It is a whole number, so nothing is rounded: no unit has more than 36
 * decimals. The indexes by amount use the same expression. The powers for dollars and the usual tokens are constants, because
 * computing them takes longer than the rest.
 */
export function majorUnits(db: Reader, value: Fragment, decimals: Fragment): Fragment {
  return db`(${value} * case ${decimals} when 2 then 1e34 when 6 then 1e30 when 18 then 1e18
    else power(10::numeric, 36 - ${decimals}) end)`;
}
