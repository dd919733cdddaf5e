import type { PaymentStatus } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
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

/** A deposit address whose money has moved, with everything that decides about it. */
export interface OpenDeposit extends Deposit {
  readonly item: StoredItem;
  readonly arrived: string;
  readonly swept: string;
  readonly told: string;
  readonly checkedBlock: number | null;
  readonly merchantId: string;
  readonly paymentStatus: PaymentStatus;
}

/**
 * Returns false if the payment has an address for the asset already. From the first address of a network on, its transfers
 * are read from the blocks that are not final now.
 */
export async function insertDeposit(tx: Tx, deposit: Deposit, at: Date): Promise<boolean> {
  const { commitment, network, address, paymentId, asset, mac } = deposit;
  const { count } = await tx`
    insert into deposits (commitment, network, address, payment_id, asset, opened_at, mac)
    values (${commitment}, ${network}, ${address}, ${paymentId}, ${asset}, ${at}, ${mac})
    on conflict (payment_id, asset) do nothing`;
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

/** A deposit address that is watched. */
export interface WatchedDeposit {
  readonly number: number;
  readonly commitment: string;
  readonly address: string;
  readonly asset: string;
  readonly openedAt: Date;
}

/** Addresses that were opened since that time, after that number, in the order of their numbers. */
export async function listDeposits(
  db: Reader,
  { network, after, since, limit }: { network: string; after: number; since: Date; limit: number },
): Promise<WatchedDeposit[]> {
  const rows = await db<(Omit<WatchedDeposit, 'number'> & { number: string })[]>`
    select number, commitment, address, asset, opened_at as "openedAt" from deposits
    where network = ${network} and number > ${after} and opened_at > ${since} order by number limit ${limit}`;
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/** Those of these addresses that are deposit addresses on the network. */
export async function findDepositAddresses(
  db: Reader,
  { network, addresses }: { network: string; addresses: readonly string[] },
): Promise<Set<string>> {
  const rows = await db<{ address: string }[]>`
    select address from deposits where network = ${network} and address = any(${addresses as string[]}::text[])`;
  return new Set(rows.map(({ address }) => address));
}

/** Deposit addresses with money by the books, the newest first, without those that are looked at again soon. */
export function listUnsweptDeposits(db: Reader, { network, limit }: { network: string; limit: number }) {
  return db<(Pick<Deposit, 'address' | 'asset' | 'paymentId'> & { readonly unswept: string })[]>`
    select address, asset, payment_id as "paymentId", (arrived - swept)::text as unswept from deposits
    where network = ${network} and arrived <> swept and not is_stale order by number desc limit ${limit}`;
}

/** Deposit addresses whose money has moved since the last look, or whose sweep would find nothing. */
export async function listStaleDeposits(
  db: Reader,
  { network, limit }: { network: string; limit: number },
): Promise<OpenDeposit[]> {
  const rows = await db<{ commitment: string }[]>`
    (select commitment from deposits where network = ${network} and is_stale order by number limit ${limit})
    union
    (select d.commitment from items s join deposits d on d.network = s.network and d.address = s.payer
      where s.network = ${network} and s.state = 'due' and s.purpose = 'sweep' and s.refusal = 'short_balance'
      limit ${limit})`;
  return readDeposits(
    db,
    rows.map(({ commitment }) => commitment),
  );
}

/** Deposit addresses with their items and payments. */
export async function readDeposits(db: Reader, commitments: readonly string[]): Promise<OpenDeposit[]> {
  if (commitments.length === 0) return [];
  const rows = await db<(OpenDeposit & StoredItem & { checkedAt: string | null })[]>`
    select ${itemColumns(db)}, d.address, d.payment_id as "paymentId", d.mac, d.arrived, d.swept, d.told,
      d.checked_block as "checkedAt", p.merchant_id as "merchantId", p.status as "paymentStatus"
    from items, lateral (
      select address, payment_id, mac, arrived, swept, told, checked_block from deposits
      where deposits.commitment = items.commitment) d,
      lateral (select merchant_id, status from payments where id = d.payment_id) p
    where commitment = any(${commitments as string[]}::text[])`;
  return rows.map(({ checkedAt, ...row }) => ({
    ...row,
    item: row,
    checkedBlock: checkedAt === null ? null : Number(checkedAt),
  }));
}

/** Locks deposit addresses in one order, and returns their amounts. The payments must be locked before. */
export async function lockDeposits(
  tx: Tx,
  commitments: readonly string[],
): Promise<{ commitment: string; arrived: bigint; swept: bigint; told: bigint; sweeps: number }[]> {
  const rows = await tx<{ commitment: string; arrived: string; swept: string; told: string; sweeps: number }[]>`
    select commitment, arrived, swept, told, sweeps from deposits
    where commitment = any(${commitments as string[]}::text[]) order by commitment for update`;
  return rows.map(({ arrived, swept, told, ...row }) => ({
    ...row,
    arrived: BigInt(arrived),
    swept: BigInt(swept),
    told: BigInt(told),
  }));
}

/** Stores the money that had arrived at a final block. The address stays stale while later transfers are known. */
export async function putArrived(
  tx: Tx,
  { commitment, arrived, block }: { commitment: string; arrived: bigint; block: number },
): Promise<void> {
  await tx`
    update deposits set arrived = ${arrived.toString()}, checked_block = ${block}, is_stale = exists (
      select from deposit_transfers t where t.commitment = ${commitment} and t.block_number > ${block})
    where commitment = ${commitment}`;
}

/** The address is looked at in the next round. */
export async function markStale(tx: Tx, commitment: string): Promise<void> {
  await tx`update deposits set is_stale = true where commitment = ${commitment}`;
}

/** The same for all addresses of payments to which money has come. */
export async function markStaleOf(tx: Tx, paymentIds: readonly string[]): Promise<void> {
  await tx`
    update deposits set is_stale = true where payment_id = any(${paymentIds as string[]}::text[]) and arrived > 0`;
}

export async function putSwept(tx: Tx, { commitment, swept }: { commitment: string; swept: bigint }): Promise<void> {
  await tx`update deposits set swept = ${swept.toString()}, is_stale = true where commitment = ${commitment}`;
}

export async function putTold(tx: Tx, { commitment, told }: { commitment: string; told: bigint }): Promise<void> {
  await tx`update deposits set told = ${told.toString()} where commitment = ${commitment}`;
}

export async function countSweep(tx: Tx, commitment: string): Promise<void> {
  await tx`update deposits set sweeps = sweeps + 1 where commitment = ${commitment}`;
}

/** The open sweeps of a deposit address. */
export function findOpenSweeps(db: Reader, { address, network }: Pick<Deposit, 'address' | 'network'>) {
  return db<{ commitment: string; state: 'due' | 'sent' }[]>`
    select commitment, state from items
    where network = ${network} and payer = ${address} and purpose = 'sweep' and state in ('due', 'sent')`;
}

/** Ends the sweeps of a payment's deposit address, and its authorizations, that this transaction has carried out. */
export async function endSweepsBy(
  tx: Tx,
  { network, subject, transaction, at }: { network: string; subject: string; transaction: string; at: Date },
): Promise<void> {
  await tx`
    update items set state = 'paid', ended_at = ${at}
    where network = ${network} and subject = ${subject} and state in ('due', 'sent')
      and (purpose = 'sweep' or method in ('deposit-vrs', 'deposit-bytes'))
      and commitment in (
        select si.commitment from send_versions v
        join send_items si on si.network = v.network and si.signer = v.signer and si.nonce = v.nonce
        where v.hash = ${transaction})`;
}

/** The events of sweeps of the asked asset up to a block: their sum, and whether one of them is undecided. */
export async function sumSweeps(
  db: Reader,
  { network, commitment, asset, upTo }: { network: string; commitment: string; asset: string; upTo: number },
): Promise<{ total: bigint; isUndecided: boolean }> {
  const [row] = await db<{ total: string; isUndecided: boolean }[]>`
    select coalesce(sum((fields ->> 'amount')::numeric), 0)::text as total,
      coalesce(bool_or(decided_at is null), false) as "isUndecided"
    from chain_events
    where network = ${network} and commitment = ${commitment} and type = 'swept' and problem is null
      and fields ->> 'asset' = ${asset} and block_number <= ${upTo}`;
  return { total: BigInt(row?.total ?? '0'), isUndecided: row?.isUndecided ?? false };
}
