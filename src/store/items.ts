import type { Item, PayMethod } from '../domain/item.ts';
import type { Reader, Tx } from './database.ts';

/** offered: a native action was handed out. due: waits to be sent. sent: is in a stored transaction. The rest is over. */
export type ItemState = 'offered' | 'due' | 'sent' | 'paid' | 'unpaid';

/** An item as it is stored. */
export interface StoredItem {
  readonly commitment: string;
  readonly subject: string;
  readonly network: string;
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
  readonly buyerName: string;
  readonly buyerIcon: string | null;
  readonly state: ItemState;
  readonly signature: string | null;
  readonly hasCode: boolean;
  readonly resultsHash: string | null;
  readonly hintedHash: string | null;
  readonly acceptedAt: Date;
}

export interface NewItem {
  readonly commitment: string;
  readonly item: Item;
  /** CAIP-10, as the wallet spelled it. */
  readonly account: string;
  readonly quote: Readonly<Record<string, unknown>> | null;
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
    network: item.network,
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
    buyer_name: rest.buyerName,
    buyer_icon: rest.buyerIcon,
    state: rest.state,
    signature: rest.signature,
    has_code: rest.hasCode,
    results_hash: rest.resultsHash,
    hinted_hash: rest.hintedHash,
  }));
  const inserted = await tx<{ commitment: string }[]>`
    insert into items (commitment, subject, network, asset, method, payer, account, recipient, fee_account, amount, fee,
      deadline, quote, buyer_name, buyer_icon, state, signature, has_code, results_hash, hinted_hash, accepted_at)
    select i.*, ${at}::timestamptz from jsonb_to_recordset(${tx.json(rows as never)}) as i(
      commitment text, subject text, network text, asset text, method text, payer text, account text, recipient text,
      fee_account text, amount numeric, fee numeric, deadline timestamptz, quote jsonb, buyer_name text,
      buyer_icon text, state text, signature text, has_code boolean, results_hash text, hinted_hash text)
    on conflict (commitment) do nothing
    returning commitment`;
  return inserted.map(({ commitment }) => commitment);
}

/** How an item ended, decided at final depth. */
export interface ItemEnd {
  readonly commitment: string;
  readonly state: 'paid' | 'unpaid';
  readonly reason: string | null;
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

export function findItems(db: Reader, commitments: readonly string[]): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items where commitment = any(${commitments as string[]}::text[])`;
}

/** The item as the chain knows it. */
export function itemOf(stored: StoredItem): Item {
  const { network, asset, method, subject, payer, recipient, feeAccount } = stored;
  return {
    network,
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

/** The columns of a `StoredItem`, of the table or alias `items`. */
export function itemColumns(db: Reader) {
  return db`commitment, subject, network, asset, method, payer, account, recipient, fee_account as "feeAccount", amount,
    fee, deadline, quote, buyer_name as "buyerName", buyer_icon as "buyerIcon", state, signature, has_code as "hasCode",
    results_hash as "resultsHash", hinted_hash as "hintedHash", accepted_at as "acceptedAt"`;
}
