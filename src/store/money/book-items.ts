import type { BookedItem } from '../../domain/books.ts';
import { type ItemKey, possibleKeys } from '../../domain/item.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import type { ItemState } from '../chain/items.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** An item of a payment with the facts that book entries need. */
export interface BookItem extends BookedItem {
  readonly key: ItemKey;
  readonly state: ItemState;
  /** True if the signature is still stored, so that a relayer can execute the item. */
  readonly hasSignature: boolean;
  /** True if the item was paid after its payment had ended. */
  readonly isExtra: boolean;
  /** True if an older version booked the late item as unexpected money. Such an item has no lot. */
  readonly isUnexpected: boolean;
  /** True if the item pays a deposit address, which has book entries of its own. */
  readonly isDeposit: boolean;
}

/**
 * Locks the items of payments, in the order of commitments. Items of payouts, refunds and returns are left out: they are booked when they
 * are sent.
 */
export async function lockBookItems(tx: Tx, keys: readonly ItemKey[]): Promise<BookItem[]> {
  await tx`
    select from items where commitment = any(${keys as ItemKey[]}::text[]) and purpose = 'payment'
    order by commitment for update`;
  // The lots are read by a second statement. One statement alone would wait for the locks, and then read the lots as they were before it
  // waited.
  const rows = await tx<ItemRow[]>`
    select ${bookColumns(tx)} from items i join payments p on p.id = i.subject
    where i.commitment = any(${keys as ItemKey[]}::text[]) and i.purpose = 'payment'
    order by i.commitment`;
  return rows.map(readItem);
}

/** An item of a payment, with all facts that must agree with its event on chain. */
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

/** The stored items of payments with these commitments, which come from events of the network. */
export async function findComparedItems(
  db: Reader,
  network: string,
  commitments: readonly string[],
): Promise<ComparedItem[]> {
  const rows = await db<(ItemRow & Pick<ComparedItem, 'payer' | 'recipient' | 'payment'>)[]>`
    select ${bookColumns(db)}, i.payer, i.recipient,
      json_build_object('status', p.status, 'tokenAsset', p.token_asset, 'tokenValue', p.token_value::text,
        'transactionHash', p.transaction_hash, 'buyerAccount', p.buyer_account) as payment
    from items i join payments p on p.id = i.subject
    where i.commitment = any(${possibleKeys(network, commitments)}::text[]) and i.network = ${network}
      and i.purpose = 'payment'`;
  return rows.map(({ payer, recipient, payment, ...row }) => ({ ...readItem(row), payer, recipient, payment }));
}

/** The given commitments that belong to payouts, refunds, returns or sweeps on the network. */
export async function findOtherItems(
  db: Reader,
  network: string,
  commitments: readonly string[],
): Promise<Set<string>> {
  const rows = await db<{ commitment: string }[]>`
    select split_part(commitment, '@', 1) as commitment from items
    where commitment = any(${possibleKeys(network, commitments)}::text[]) and network = ${network} and purpose <> 'payment'`;
  return new Set(rows.map(({ commitment }) => commitment));
}

type ItemRow = Omit<BookItem, 'amount' | 'fee'> & { amount: string; fee: string };

function readItem({ amount, fee, ...rest }: ItemRow): BookItem {
  return { ...rest, amount: BigInt(amount), fee: BigInt(fee) };
}

function bookColumns(db: Reader) {
  return db`i.commitment as key, split_part(i.commitment, '@', 1) as reference, i.subject, i.network, i.asset, i.amount::text as amount, i.fee::text as fee,
    i.is_held as "isHeld", i.state, i.signature is not null as "hasSignature",
    coalesce(i.end_reason = 'paid_after_end', false) as "isExtra",
    coalesce(i.end_reason = 'paid_after_end', false) and i.is_held and not exists (
      select from lots l where l.id = i.network || '/' || i.commitment || '/0') as "isUnexpected", i.method in ('deposit', 'deposit-vrs', 'deposit-bytes') as "isDeposit", p.merchant_id as "merchantId"`;
}
