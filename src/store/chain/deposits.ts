import { type ItemKey, itemKeyOf } from '../../domain/item.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { insertPlace } from './deposit-places.ts';
import { itemColumns, type StoredItem } from './items.ts';

/** A deposit address of a payment for one asset. Its terms are those of its item. */
export interface Deposit {
  /** The hash of the terms that the address is derived from. It is the same on all networks. */
  readonly commitment: string;
  readonly network: string;
  readonly address: string;
  readonly paymentId: string;
  readonly asset: string;
  readonly mac: string;
}

export interface OpenDeposit extends Deposit {
  readonly item: StoredItem;
  readonly merchantId: string;
  readonly paymentStatus: PaymentStatus;
}

/**
 * Stores a deposit address, and begins to watch it on its own network. Returns false if the payment already has an address for the asset.
 * The first address of a network creates the network's cursor. Transfers are then read from the first block that is not final now.
 */
export async function insertDeposit(
  tx: Tx,
  deposit: Deposit & { readonly itemKey: ItemKey },
  at: Date,
): Promise<boolean> {
  const { commitment, network, address, paymentId, asset, mac, itemKey } = deposit;
  const { count } = await tx`
    insert into deposits (commitment, network, address, payment_id, asset, opened_at, mac, item)
    values (${commitment}, ${network}, ${address}, ${paymentId}, ${asset}, ${at}, ${mac}, ${itemKey})
    on conflict (payment_id, asset) do nothing`;
  await insertPlace(tx, { network, commitment, address, paymentId }, at);
  await tx`
    insert into deposit_cursors (network, read_number, final_number)
    select network, final_number, final_number from chain_cursors where network = ${network}
    on conflict (network) do nothing`;
  return count === 1;
}

export async function findDeposit(
  db: Reader,
  { paymentId, asset }: { paymentId: string; asset: string },
): Promise<(Deposit & { readonly item: StoredItem }) | undefined> {
  const [row] = await db<(Deposit & StoredItem)[]>`
    select ${itemColumns(db)}, d.address, d.payment_id as "paymentId", d.mac
    from items, lateral (
      select address, payment_id, mac from deposits where deposits.item = items.commitment) d
    where commitment = (select item from deposits where payment_id = ${paymentId} and asset = ${asset})`;
  return row && { ...row, item: row };
}

/** The key of the item that belongs to a deposit address on a network. */
export async function depositItemKey(
  db: Reader,
  { network, commitment }: Pick<Deposit, 'network' | 'commitment'>,
): Promise<ItemKey> {
  const others = await db`select from deposits where commitment = ${commitment} and network <> ${network}`;
  return itemKeyOf({ network, commitment }, { isTaken: others.length > 0 });
}

/** Locks a page of all deposit addresses, ordered by the keys of their items. */
export async function lockAllDeposits(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<(Deposit & { readonly id: string })[]> {
  return tx<(Deposit & { id: string })[]>`
    select item as id, commitment, network, address, payment_id as "paymentId", asset, mac from deposits
    where item > ${after} order by item limit ${limit} for no key update`;
}

export async function setDepositMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update deposits d set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text) where d.item = m.id`;
}

/** The given addresses that are deposit addresses. A deposit address is the same on all networks. */
export async function findDepositAddresses(db: Reader, addresses: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ address: string }[]>`
    select address from deposits where address = any(${addresses as string[]}::text[])`;
  return new Set(rows.map(({ address }) => address));
}

export async function listDepositsOf(db: Reader, paymentId: string): Promise<OpenDeposit[]> {
  const rows = await db<{ item: ItemKey }[]>`
    select item from deposits where payment_id = ${paymentId} order by number`;
  return readDeposits(
    db,
    rows.map(({ item }) => item),
  );
}

/** The deposit addresses with these commitments, on any network. */
export async function findDepositsBy(db: Reader, commitments: readonly string[]): Promise<OpenDeposit[]> {
  const rows = await db<{ item: ItemKey }[]>`
    select item from deposits where commitment = any(${commitments as string[]}::text[])`;
  return readDeposits(
    db,
    rows.map(({ item }) => item),
  );
}

/** The deposit addresses with these item keys, with their items and payments. */
export async function readDeposits(db: Reader, itemKeys: readonly ItemKey[]): Promise<OpenDeposit[]> {
  if (itemKeys.length === 0) return [];
  const rows = await db<(OpenDeposit & StoredItem)[]>`
    select ${itemColumns(db)}, d.address, d.payment_id as "paymentId", d.mac, p.merchant_id as "merchantId",
      p.status as "paymentStatus"
    from items, lateral (
      select address, payment_id, mac from deposits where deposits.item = items.commitment) d,
      lateral (select merchant_id, status from payments where id = d.payment_id) p
    where commitment = any(${itemKeys as ItemKey[]}::text[])`;
  return rows.map((row) => ({ ...row, item: row }));
}
