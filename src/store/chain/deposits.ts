import type { PaymentStatus } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { insertPlace } from './deposit-places.ts';
import { itemColumns, type StoredItem } from './items.ts';

/** A deposit address of a payment. Its terms are the terms of the item. */
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
 * Returns false if the payment already has an address for the asset. The address is watched on its own network. The first address
 * of a network creates the network's cursor, so transfers are read from its first block that is not final now.
 */
export async function insertDeposit(
  tx: Tx,
  deposit: Deposit & { readonly itemKey: string },
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
  const [row] = await db<(Deposit & StoredItem & Named)[]>`
    select ${itemColumns(db)}, d.address, d.payment_id as "paymentId", d.mac, d.committed
    from items, lateral (
      select address, payment_id, mac, commitment as committed from deposits where deposits.item = items.commitment) d
    where commitment = (select item from deposits where payment_id = ${paymentId} and asset = ${asset})`;
  return row && { ...row, commitment: row.committed, item: row };
}

/** The commitment of the address. The row of the item has another key if two networks share the commitment. */
interface Named {
  readonly committed: string;
}

/** The key of an address's row in `items`: the commitment, with the network if another network already uses it. */
export async function itemKeyOf(
  db: Reader,
  { network, commitment }: Pick<Deposit, 'network' | 'commitment'>,
): Promise<string> {
  const rows = await db`select from deposits where commitment = ${commitment} and network <> ${network}`;
  return rows.length === 0 ? commitment : `${commitment}@${network}`;
}

/** The commitment in the key of a row in `items`. See `itemKeyOf`. */
export function commitmentOfItem({ commitment }: Pick<StoredItem, 'commitment'>): string {
  return commitment.split('@')[0] ?? commitment;
}

/** Locks a page of all deposit addresses, ordered by the key of their item. */
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

/** The addresses among these that are deposit addresses. A deposit address is the same on all networks. */
export async function findDepositAddresses(db: Reader, addresses: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ address: string }[]>`
    select address from deposits where address = any(${addresses as string[]}::text[])`;
  return new Set(rows.map(({ address }) => address));
}

export async function listDepositsOf(db: Reader, paymentId: string): Promise<OpenDeposit[]> {
  const rows = await db<{ item: string }[]>`
    select item from deposits where payment_id = ${paymentId} order by number`;
  return readDeposits(
    db,
    rows.map(({ item }) => item),
  );
}

/** The deposit addresses of these commitments, on any network. */
export async function findDepositsBy(db: Reader, commitments: readonly string[]): Promise<OpenDeposit[]> {
  const rows = await db<{ item: string }[]>`
    select item from deposits where commitment = any(${commitments as string[]}::text[])`;
  return readDeposits(
    db,
    rows.map(({ item }) => item),
  );
}

/** Deposit addresses with their items and payments, by the keys of their items. */
export async function readDeposits(db: Reader, itemKeys: readonly string[]): Promise<OpenDeposit[]> {
  if (itemKeys.length === 0) return [];
  const rows = await db<(OpenDeposit & StoredItem & Named)[]>`
    select ${itemColumns(db)}, d.address, d.payment_id as "paymentId", d.mac, p.merchant_id as "merchantId",
      p.status as "paymentStatus", d.committed
    from items, lateral (
      select address, payment_id, mac, commitment as committed from deposits where deposits.item = items.commitment) d,
      lateral (select merchant_id, status from payments where id = d.payment_id) p
    where commitment = any(${itemKeys as string[]}::text[])`;
  return rows.map((row) => ({ ...row, commitment: row.committed, item: row }));
}
