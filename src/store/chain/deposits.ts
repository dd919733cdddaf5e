import type { PaymentStatus } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { insertPlace } from './deposit-places.ts';
import { itemColumns, type StoredItem } from './items.ts';

/** A deposit address of a payment. Its terms are those of the item. */
export interface Deposit {
  readonly commitment: string;
  readonly network: string;
  readonly address: string;
  readonly paymentId: string;
  readonly asset: string;
  readonly mac: string;
}

/** A deposit address with its terms and its payment. */
export interface OpenDeposit extends Deposit {
  readonly item: StoredItem;
  readonly merchantId: string;
  readonly paymentStatus: PaymentStatus;
}

/**
 * Returns false if the payment has an address for the asset already. It is watched on its own network. From the first address
 * of a network on, its transfers are read from the blocks that are not final now.
 */
export async function insertDeposit(tx: Tx, deposit: Deposit, at: Date): Promise<boolean> {
  const { commitment, network, address, paymentId, asset, mac } = deposit;
  const { count } = await tx`
    insert into deposits (commitment, network, address, payment_id, asset, opened_at, mac)
    values (${commitment}, ${network}, ${address}, ${paymentId}, ${asset}, ${at}, ${mac})
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
    from items, lateral (select address, payment_id, mac from deposits where deposits.commitment = items.commitment) d
    where commitment = (select commitment from deposits where payment_id = ${paymentId} and asset = ${asset})`;
  return row && { ...row, item: row };
}

/** Locks a page of all deposit addresses, by their commitments. */
export async function lockAllDeposits(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<(Deposit & { readonly id: string })[]> {
  return tx<(Deposit & { id: string })[]>`
    select commitment as id, commitment, network, address, payment_id as "paymentId", asset, mac from deposits
    where commitment > ${after} order by commitment limit ${limit} for no key update`;
}

export async function setDepositMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update deposits d set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text) where d.commitment = m.id`;
}

/** Those of these addresses that are deposit addresses. An address is the same on all networks. */
export async function findDepositAddresses(db: Reader, addresses: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ address: string }[]>`
    select address from deposits where address = any(${addresses as string[]}::text[])`;
  return new Set(rows.map(({ address }) => address));
}

/** All deposit addresses of a payment. */
export async function listDepositsOf(db: Reader, paymentId: string): Promise<OpenDeposit[]> {
  const rows = await db<{ commitment: string }[]>`
    select commitment from deposits where payment_id = ${paymentId} order by number`;
  return readDeposits(
    db,
    rows.map(({ commitment }) => commitment),
  );
}

/** Deposit addresses with their items and payments. */
export async function readDeposits(db: Reader, commitments: readonly string[]): Promise<OpenDeposit[]> {
  if (commitments.length === 0) return [];
  const rows = await db<(OpenDeposit & StoredItem)[]>`
    select ${itemColumns(db)}, d.address, d.payment_id as "paymentId", d.mac, p.merchant_id as "merchantId",
      p.status as "paymentStatus"
    from items, lateral (
      select address, payment_id, mac from deposits where deposits.commitment = items.commitment) d,
      lateral (select merchant_id, status from payments where id = d.payment_id) p
    where commitment = any(${commitments as string[]}::text[])`;
  return rows.map((row) => ({ ...row, item: row }));
}
