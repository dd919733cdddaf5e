import {
  type Authorization,
  type Item,
  type ItemKey,
  type ItemMethod,
  possibleKeys,
  type SignedItem,
} from '../../domain/item.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/**
 * The state of an item. offered: waits for the payer's coin or a merchant's signature. due: waits for a relayer to send it. sent: is in a
 * stored transaction. paid and unpaid: the item has ended.
 */
export type ItemState = 'offered' | 'due' | 'sent' | 'paid' | 'unpaid';

/**
 * The purpose of an item. Items of payouts, refunds and returns have a row in `outgoing`, and are signed by our own accounts or by the
 * merchant. A sweep moves the money of a payment's deposit address to the accounts in the terms of the address.
 */
export type ItemPurpose = 'payment' | 'payout' | 'refund' | 'return' | 'sweep';

export interface StoredItem {
  /** The primary key of the row: the commitment, with the network if two networks have the same commitment. */
  readonly key: ItemKey;
  /** The hash of the terms, which events on chain show. Items of two networks can have the same commitment. */
  readonly commitment: string;
  /** The id of the payment, payout, refund or return. For a sweep, the id of the payment. */
  readonly subject: string;
  /** The 32 bytes that the chain shows as the subject. Null for the first releases of the contracts, which have no seals. */
  readonly seal: string | null;
  readonly purpose: ItemPurpose;
  readonly network: string;
  readonly collector: string;
  readonly asset: string;
  /** The asset that the deposit address was made for. Null unless a sweep takes another asset. */
  readonly asked: string | null;
  readonly method: ItemMethod;
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
  readonly authorization: StoredAuthorization | null;
}

/** The x402 authorization of an item, with the `payment-identifier` of its request. */
export interface StoredAuthorization extends Authorization {
  readonly identifier?: string | undefined;
}

export interface ItemFeeTerms {
  /** The share of the amount that is the fee: a decimal percentage. */
  readonly percentage: string;
  /** The fixed part of the fee, in the smallest unit of the asset. */
  readonly fixed: string;
}

export interface NewItem {
  readonly key: ItemKey;
  /** The purpose of the item. By default `payment`. */
  readonly purpose?: ItemPurpose;
  readonly item: Item;
  /** The payer's account (CAIP-10), as the wallet spelled it. */
  readonly account: string;
  readonly quote: Readonly<Record<string, unknown>> | null;
  /** True if the recipient is our intermediate account, which holds the money until it pays the merchant. */
  readonly isHeld?: boolean;
  /** The terms from which the fee was computed. Undefined for items without a fee, such as payouts. */
  readonly feeTerms?: ItemFeeTerms;
  readonly buyerName: string;
  readonly buyerIcon: string | null;
  readonly state: 'offered' | 'due';
  readonly signature: string | null;
  readonly hasCode: boolean;
  readonly resultsHash: string | null;
  readonly hintedHash: string | null;
  /** The time before which no relayer sends a due item. Undefined to send it at once. */
  readonly sendAfter?: Date;
  /** The `payment-identifier` of the x402 request that contained the authorization. */
  readonly identifier?: string | undefined;
}

/**
 * Stores items and returns the keys of the new ones. An item that is already stored has exactly the same terms, because its commitment is
 * their hash. Its row stays unchanged.
 */
export async function insertItems(tx: Tx, items: readonly NewItem[], at: Date): Promise<ItemKey[]> {
  const rows = items.map(({ item, ...rest }) => ({
    commitment: rest.key,
    subject: item.subject,
    seal: item.seal ?? null,
    purpose: rest.purpose ?? 'payment',
    network: item.network,
    collector: item.collector,
    asset: item.asset,
    asked: item.asked ?? null,
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
    retry_at: rest.sendAfter ?? null,
    authorization_terms:
      item.authorization === undefined ? null : { ...item.authorization, identifier: rest.identifier },
  }));
  const inserted = await tx<{ key: ItemKey }[]>`
    insert into items (commitment, subject, seal, purpose, network, collector, asset, asked, method, payer, account,
      recipient, fee_account, amount, fee, deadline, quote, is_held, fee_terms, buyer_name, buyer_icon, state, signature, has_code,
      results_hash, hinted_hash, retry_at, authorization_terms, accepted_at)
    select i.*, ${at}::timestamptz from jsonb_to_recordset(${tx.json(rows as never)}) as i(
      commitment text, subject text, seal text, purpose text, network text, collector text, asset text, asked text, method text,
      payer text, account text, recipient text, fee_account text, amount numeric, fee numeric, deadline timestamptz,
      quote jsonb, is_held boolean, fee_terms jsonb, buyer_name text, buyer_icon text, state text, signature text,
      has_code boolean, results_hash text, hinted_hash text, retry_at timestamptz, authorization_terms jsonb)
    on conflict (commitment) do nothing
    returning commitment as key`;
  return inserted.map(({ key }) => key);
}

/**
 * Stores the deadline of a coin action that is about to be given to a wallet. From then on, the payment does not end by `expires_at` alone.
 * Returns false if the payment can no longer be paid.
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

/** A payment in native coin that a wallet was asked to send, and that has not ended. */
export type OpenCoinAction = Pick<StoredItem, 'key' | 'network' | 'payer' | 'deadline'>;

/** The open coin actions of a payment, the earliest deadline first. */
export function listCoinActions(tx: Tx, paymentId: string): Promise<OpenCoinAction[]> {
  return tx<OpenCoinAction[]>`
    select commitment as key, network, payer, deadline from items
    where subject = ${paymentId} and method = 'native' and state = 'offered' and purpose = 'payment' order by deadline`;
}

/** Stores the hash of the transaction that a wallet reported for a coin action. Ended items stay unchanged. */
export async function hintTransaction(
  tx: Tx,
  { key, hash, resultsHash }: { key: ItemKey; hash: string; resultsHash: string },
): Promise<void> {
  await tx`
    update items set hinted_hash = ${hash}, results_hash = ${resultsHash}
    where commitment = ${key} and state = 'offered'`;
}

/** Makes an offered item due, with the signature of its payer. Returns false if the item is no longer offered. */
export async function signOffered(
  tx: Tx,
  signed: Pick<StoredItem, 'key' | 'hasCode'> & { readonly signature: string; readonly resultsHash: string },
): Promise<boolean> {
  const { count } = await tx`
    update items set state = 'due', signature = ${signed.signature}, has_code = ${signed.hasCode},
      results_hash = ${signed.resultsHash}
    where commitment = ${signed.key} and state = 'offered'`;
  return count === 1;
}

/** The end of an item, decided by blocks at final depth. */
export interface ItemEnd {
  readonly key: ItemKey;
  readonly state: 'paid' | 'unpaid';
  readonly reason: string | null;
  /** The transaction on chain that executed a paid item. */
  readonly proof?: { readonly transaction: string; readonly block: number };
}

/** Stores the end of items. The signature of an unpaid item is deleted, so that nobody can use it later. */
export async function endItems(tx: Tx, ends: readonly ItemEnd[], at: Date): Promise<void> {
  await tx`
    update items i
    set state = e.state, end_reason = e.reason, ended_at = ${at},
      signature = case when e.state = 'unpaid' then null else i.signature end
    from jsonb_to_recordset(${tx.json(ends as never)}) as e(key text, state text, reason text)
    where i.commitment = e.key and i.state <> 'paid'`;
}

/** All items of a payment, payout, refund or return except sweeps, the oldest first. */
export function findItemsOf(db: Reader, subject: string): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items where subject = ${subject} and purpose <> 'sweep'
    order by accepted_at, key`;
}

/** The given subjects that ever had an item, so that a signature for them may exist. */
export async function findSignedSubjects(db: Reader, subjects: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ subject: string }[]>`
    select distinct subject from items where subject = any(${subjects as string[]}::text[])`;
  return new Set(rows.map(({ subject }) => subject));
}

/** The item that paid a payment. */
export async function findPayingItem(db: Reader, paymentId: string): Promise<StoredItem | undefined> {
  const [row] = await db<StoredItem[]>`
    select ${itemColumns(db)} from items i where subject = ${paymentId} and ${isPayingItem(db)} limit 1`;
  return row;
}

/**
 * The SQL condition that the item `i` has paid its subject. A second paid item is unexpected money. An x402 authorization is left out: it
 * pays a deposit address, and the item of that address decides the payment.
 */
export function isPayingItem(db: Reader) {
  return db`i.state = 'paid' and i.purpose <> 'sweep' and i.method not in ('deposit-vrs', 'deposit-bytes')
    and i.end_reason is distinct from 'paid_after_end'`;
}

export function findItems(db: Reader, keys: readonly ItemKey[]): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items where commitment = any(${keys as ItemKey[]}::text[])`;
}

/**
 * The item for each commitment in the events of a network. A deposit address can have an item on each of several networks: the item of this
 * network is returned, if there is one. Otherwise the money came to the address on a network for which nobody got the address. Then the
 * item of another network is returned.
 */
export function findItemsOfEvents(db: Reader, network: string, commitments: readonly string[]): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select distinct on (split_part(items.commitment, '@', 1)) ${itemColumns(db)} from items
    where items.commitment = any(${possibleKeys(network, commitments)}::text[])
    order by split_part(items.commitment, '@', 1), network = ${network} desc`;
}

export function itemOf(stored: StoredItem): Item {
  const { network, collector, asset, asked, method, subject, seal, payer, recipient, feeAccount, authorization } =
    stored;
  return {
    network,
    collector,
    asset,
    ...(asked !== null && { asked }),
    method,
    subject,
    ...(seal !== null && { seal }),
    payer,
    recipient,
    feeAccount,
    amount: BigInt(stored.amount),
    fee: BigInt(stored.fee),
    deadlineS: stored.deadline.getTime() / 1000,
    ...(authorization && { authorization: { nonce: authorization.nonce, validAfterS: authorization.validAfterS } }),
  };
}

export function signedItemOf(stored: StoredItem & { readonly signature: string }): SignedItem {
  const { commitment, signature, hasCode } = stored;
  return { item: itemOf(stored), commitment, signature, hasCode };
}

/** The columns of a `StoredItem`, for a table or alias `items`. The column `commitment` contains the key (`itemKeyOf`). */
export function itemColumns(db: Reader) {
  return db`commitment as key, split_part(commitment, '@', 1) as commitment, subject, seal, purpose, network, collector, asset, asked, method, payer, account, recipient,
    fee_account as "feeAccount", amount, fee, deadline, quote, is_held as "isHeld", fee_terms as "feeTerms",
    buyer_name as "buyerName", buyer_icon as "buyerIcon", state, signature, has_code as "hasCode",
    results_hash as "resultsHash", hinted_hash as "hintedHash", accepted_at as "acceptedAt",
    authorization_terms as "authorization"`;
}
