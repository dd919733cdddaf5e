import type { BookedItem } from '../../domain/books.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import type { ItemState } from '../chain/items.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** An item with the facts that book entries need. */
export interface BookItem extends BookedItem {
  readonly state: ItemState;
  /** True if a relayer can still execute the item. */
  readonly hasSignature: boolean;
  /** True if the item was paid after its payment had ended. */
  readonly isExtra: boolean;
  /** True if an older version booked the item as unexpected money. Such an item has no lot. */
  readonly isStray: boolean;
  /** True if the money goes to a deposit address, which has its own entries. */
  readonly isDeposit: boolean;
}

/** Locks items of payments in a fixed order. Items of payouts and refunds are left out: they are booked when sent. */
export async function lockBookItems(tx: Tx, commitments: readonly string[]): Promise<BookItem[]> {
  await tx`
    select from items where commitment = any(${commitments as string[]}::text[]) and purpose = 'payment'
    order by commitment for update`;
  // The lots are read by a second statement: a statement that waits for the locks would read the lots of the time before.
  const rows = await tx<ItemRow[]>`
    select ${bookColumns(tx)} from items i join payments p on p.id = i.subject
    where i.commitment = any(${commitments as string[]}::text[]) and i.purpose = 'payment'
    order by i.commitment`;
  return rows.map(readItem);
}

/** An item with all facts that must agree with its event. */
export interface ComparedItem extends BookItem {
  readonly payer: string;
  readonly recipient: string;
  readonly payment: {
    readonly status: PaymentStatus;
    readonly tokenAsset: string | null;
    readonly tokenValue: string | null;
    readonly transactionHash: string | null;
    readonly buyerAccount: string | null;
  };
}

export async function findComparedItems(db: Reader, commitments: readonly string[]): Promise<ComparedItem[]> {
  const rows = await db<(ItemRow & Pick<ComparedItem, 'payer' | 'recipient' | 'payment'>)[]>`
    select ${bookColumns(db)}, i.payer, i.recipient,
      json_build_object('status', p.status, 'tokenAsset', p.token_asset, 'tokenValue', p.token_value::text,
        'transactionHash', p.transaction_hash, 'buyerAccount', p.buyer_account) as payment
    from items i join payments p on p.id = i.subject
    where i.commitment = any(${commitments as string[]}::text[]) and i.purpose = 'payment'`;
  return rows.map(({ payer, recipient, payment, ...row }) => ({ ...readItem(row), payer, recipient, payment }));
}

/** The commitments among these that belong to payouts, refunds or returns. */
export async function findOtherItems(db: Reader, commitments: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ commitment: string }[]>`
    select commitment from items
    where commitment = any(${commitments as string[]}::text[]) and purpose <> 'payment'`;
  return new Set(rows.map(({ commitment }) => commitment));
}

type ItemRow = Omit<BookItem, 'amount' | 'fee'> & { amount: string; fee: string };

function readItem({ amount, fee, ...rest }: ItemRow): BookItem {
  return { ...rest, amount: BigInt(amount), fee: BigInt(fee) };
}

function bookColumns(db: Reader) {
  return db`i.commitment as reference, i.subject, i.network, i.asset, i.amount::text as amount, i.fee::text as fee,
    i.is_held as "isHeld", i.state, i.signature is not null as "hasSignature",
    coalesce(i.end_reason = 'paid_after_end', false) as "isExtra",
    coalesce(i.end_reason = 'paid_after_end', false) and i.is_held and not exists (
      select from lots l where l.id = i.network || '/' || i.commitment || '/0') as "isStray", i.method in ('deposit', 'deposit-vrs', 'deposit-bytes') as "isDeposit", p.merchant_id as "merchantId"`;
}
