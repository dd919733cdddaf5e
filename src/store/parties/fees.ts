import type { FeeTerms } from '../../domain/fees.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';

/** Fee terms that an operator has set. Rows never change: new terms replace the older ones when they start. */
export interface StoredFees extends FeeTerms {
  readonly id: number;
  readonly partnerId: string;
  /** The merchant to which the terms apply. Null if they apply to all merchants of the partner that have no terms of their own. */
  readonly merchantId: string | null;
  readonly startsAt: Date;
  readonly createdAt: Date;
}

export async function insertFees(tx: Tx, fees: Omit<StoredFees, 'id'>): Promise<StoredFees> {
  const rows = await tx<StoredFees[]>`
    insert into fees (partner_id, merchant_id, percentage, fixed, starts_at, created_at)
    values (${fees.partnerId}, ${fees.merchantId}, ${fees.percentage}, ${tx.json(fees.fixed as never)}, ${fees.startsAt},
      ${fees.createdAt})
    returning ${columns(tx)}`;
  return one(rows);
}

/**
 * Fee terms in the order of their start. Of two terms with the same start, the one that was stored later applies, and it comes later in the
 * list.
 */
export function listFees(
  db: Reader,
  filter: { partnerId: string | undefined; merchantId: string | undefined },
): Promise<StoredFees[]> {
  const { partnerId, merchantId } = filter;
  return db<StoredFees[]>`
    select ${columns(db)} from fees
    where ${partnerId === undefined ? db`true` : db`partner_id = ${partnerId}`}
      and ${merchantId === undefined ? db`true` : db`merchant_id = ${merchantId}`}
    order by partner_id, merchant_id nulls first, starts_at, id`;
}

function columns(db: Reader) {
  return db`id::int, partner_id as "partnerId", merchant_id as "merchantId", percentage, fixed,
    starts_at as "startsAt", created_at as "createdAt"`;
}
