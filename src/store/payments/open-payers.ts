import type { Reader } from '../plumbing/database.ts';

export interface OpenPayer {
  readonly commitment: string;
  readonly paymentId: string;
  /** CAIP-10, in canonical spelling. */
  readonly account: string;
}

/** A page of the payers of open items, by commitment. */
export function listOpenPayers(
  db: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<OpenPayer[]> {
  return db<OpenPayer[]>`
    select commitment, subject as "paymentId", network || ':' || payer as account from items
    where state in ('due', 'sent') and purpose = 'payment' and commitment > ${after}
    order by commitment limit ${limit}`;
}
