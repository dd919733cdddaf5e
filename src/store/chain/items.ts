import type { Item, PayMethod, SignedItem } from '../../domain/item.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** offered: a native action was handed out. due: waits to be sent. sent: is in a stored transaction. The rest is over. */
export type ItemState = 'offered' | 'due' | 'sent' | 'paid' | 'unpaid';

/** What an item is for. All but payments are signed by accounts of ours, and have a row in `outgoing`. */
export type ItemPurpose = 'payment' | 'payout' | 'refund' | 'return';

/** An item as it is stored. */
export interface StoredItem {
  readonly commitment: string;
  /** The id of a payment, or of what leaves the intermediate account. */
  readonly subject: string;
  readonly purpose: ItemPurpose;
  readonly network: string;
  readonly collector: string;
  readonly asset: string;
  readonly method: PayMethod;
  readonly payer: string;
  readonly account: string;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly amount: string;
  readonly fee: string;
  readonly deadline: Date;
  readonly quote: Readonly<Record<string, unknown>> | null;
  readonly isHeld: boolean;
  readonly feeTerms: ItemFeeTerms | null;
  readonly buyerName: string;
  readonly buyerIcon: string | null;
  readonly state: ItemState;
  readonly signature: string | null;
  readonly hasCode: boolean;
  readonly resultsHash: string | null;
  readonly hintedHash: string | null;
  readonly acceptedAt: Date;
}

/** What the fee of an item is made of. */
export interface ItemFeeTerms {
  /** A decimal percent. */
  readonly percentage: string;
  /** In the smallest unit of the asset. */
  readonly fixed: string;
}

export interface NewItem {
  readonly commitment: string;
  /** A payment unless told otherwise. */
  readonly purpose?: ItemPurpose;
  readonly item: Item;
  /** CAIP-10, as the wallet spelled it. */
  readonly account: string;
  readonly quote: Readonly<Record<string, unknown>> | null;
  /** Whether the recipient is the operator's own account, which passes the money on later. */
  readonly isHeld?: boolean;
  /** Missing where the fee is not made of anything, as with a payout. */
  readonly feeTerms?: ItemFeeTerms;
  readonly buyerName: string;
  readonly buyerIcon: string | null;
  readonly state: 'offered' | 'due';
  readonly signature: string | null;
  readonly hasCode: boolean;
  readonly resultsHash: string | null;
  readonly hintedHash: string | null;
}

/**
 * Stores items and returns the commitments that are new. One that is there already stands for exactly the same payment
 * by the same payer; it stays as it is.
 */
export async function insertItems(tx: Tx, items: readonly NewItem[], at: Date): Promise<string[]> {
  const rows = items.map(({ item, ...rest }) => ({
    commitment: rest.commitment,
    subject: item.subject,
    purpose: rest.purpose ?? 'payment',
    network: item.network,
    collector: item.collector,
    asset: item.asset,
    method: item.method,
    payer: item.payer,
    account: rest.account,
    recipient: item.recipient,
    fee_account: item.feeAccount,
    amount: item.amount.toString(),
    fee: item.fee.toString(),
    deadline: new Date(item.deadlineS * 1000),
    quote: rest.quote,
    is_held: rest.isHeld ?? false,
    fee_terms: rest.feeTerms ?? null,
    buyer_name: rest.buyerName,
    buyer_icon: rest.buyerIcon,
    state: rest.state,
    signature: rest.signature,
    has_code: rest.hasCode,
    results_hash: rest.resultsHash,
    hinted_hash: rest.hintedHash,
  }));
  const inserted = await tx<{ commitment: string }[]>`
    insert into items (commitment, subject, purpose, network, collector, asset, method, payer, account, recipient,
      fee_account, amount, fee, deadline, quote, is_held, fee_terms, buyer_name, buyer_icon, state, signature, has_code,
      results_hash, hinted_hash, accepted_at)
    select i.*, ${at}::timestamptz from jsonb_to_recordset(${tx.json(rows as never)}) as i(
      commitment text, subject text, purpose text, network text, collector text, asset text, method text, payer text,
      account text, recipient text, fee_account text, amount numeric, fee numeric, deadline timestamptz, quote jsonb,
      is_held boolean, fee_terms jsonb, buyer_name text, buyer_icon text, state text, signature text,
      has_code boolean, results_hash text, hinted_hash text)
    on conflict (commitment) do nothing
    returning commitment`;
  return inserted.map(({ commitment }) => commitment);
}

/**
 * Notes that a native action with this deadline is handed out, and says whether it may be: only for a payment that still
 * can be paid. From then on the clock alone does not expire it.
 */
export async function raiseNativeDeadline(
  tx: Tx,
  { paymentId, deadline, now }: { paymentId: string; deadline: Date; now: Date },
): Promise<boolean> {
  const { count } = await tx`
    update payments set native_deadline = greatest(native_deadline, ${deadline})
    where id = ${paymentId} and status = 'requires_action' and expires_at > ${now}`;
  return count === 1;
}

/** Keeps the transaction a wallet named for an action that was handed out; an item that is over needs no hint. */
export async function hintTransaction(
  tx: Tx,
  { commitment, hash, resultsHash }: { commitment: string; hash: string; resultsHash: string },
): Promise<void> {
  await tx`
    update items set hinted_hash = ${hash}, results_hash = ${resultsHash}
    where commitment = ${commitment} and state = 'offered'`;
}

/** How an item ended, decided at final depth. */
export interface ItemEnd {
  readonly commitment: string;
  readonly state: 'paid' | 'unpaid';
  readonly reason: string | null;
  /** The transaction that carried a paid one out. */
  readonly proof?: { readonly transaction: string; readonly block: number };
}

/** Ends items. The signature of one that was not paid is destroyed: nobody shall be able to use it any more. */
export async function endItems(tx: Tx, ends: readonly ItemEnd[], at: Date): Promise<void> {
  await tx`
    update items i
    set state = e.state, end_reason = e.reason, ended_at = ${at},
      signature = case when e.state = 'unpaid' then null else i.signature end
    from jsonb_to_recordset(${tx.json(ends as never)}) as e(commitment text, state text, reason text)
    where i.commitment = e.commitment and i.state <> 'paid'`;
}

/** All items of a payment, oldest first. */
export function findItemsOf(db: Reader, subject: string): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items where subject = ${subject} order by accepted_at, commitment`;
}

/** The item that paid a payment: another one that was carried out as well is to be given back. */
export async function findPayingItem(db: Reader, paymentId: string): Promise<StoredItem | undefined> {
  const [row] = await db<StoredItem[]>`
    select ${itemColumns(db)} from items
    where subject = ${paymentId} and state = 'paid' and end_reason is distinct from 'paid_after_end' limit 1`;
  return row;
}

export function findItems(db: Reader, commitments: readonly string[]): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items where commitment = any(${commitments as string[]}::text[])`;
}

/** The item as the chain knows it. */
export function itemOf(stored: StoredItem): Item {
  const { network, collector, asset, method, subject, payer, recipient, feeAccount } = stored;
  return {
    network,
    collector,
    asset,
    method,
    subject,
    payer,
    recipient,
    feeAccount,
    amount: BigInt(stored.amount),
    fee: BigInt(stored.fee),
    deadlineS: stored.deadline.getTime() / 1000,
  };
}

/** The item with what its payer signed. */
export function signedItemOf(stored: StoredItem & { readonly signature: string }): SignedItem {
  const { commitment, signature, hasCode } = stored;
  return { item: itemOf(stored), commitment, signature, hasCode };
}

/** The columns of a `StoredItem`, of the table or alias `items`. */
export function itemColumns(db: Reader) {
  return db`commitment, subject, purpose, network, collector, asset, method, payer, account, recipient,
    fee_account as "feeAccount", amount, fee, deadline, quote, is_held as "isHeld", fee_terms as "feeTerms",
    buyer_name as "buyerName", buyer_icon as "buyerIcon", state, signature, has_code as "hasCode",
    results_hash as "resultsHash", hinted_hash as "hintedHash", accepted_at as "acceptedAt"`;
}
