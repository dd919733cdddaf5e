import type { ItemKey } from '../../domain/item.ts';
import type { Reader } from '../plumbing/database.ts';

export interface OpenPayer {
  readonly key: ItemKey;
  readonly paymentId: string;
  /** The payer's account (CAIP-10), in canonical spelling. */
  readonly account: string;
}

/** A page of the payers of payments' items that are due or sent, in the order of item keys. */
export function listOpenPayers(
  db: Reader,
  { after, limit }: { readonly after: ItemKey | ''; readonly limit: number },
): Promise<OpenPayer[]> {
  return db<OpenPayer[]>`
    select commitment as key, subject as "paymentId", network || ':' || payer as account from items
    where state in ('due', 'sent') and purpose = 'payment' and commitment > ${after}
    order by commitment limit ${limit}`;
}
