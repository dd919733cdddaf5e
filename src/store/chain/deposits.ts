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

/**
 * Money at a deposit address that has moved, with everything that decides about it. Network and asset are those of the
 * money; the item has those that the payment asked for.
 */
export interface OpenDeposit extends Deposit {
  /** True if the payment did not ask for it: another asset, or another network. */
  readonly isStray: boolean;
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

/** Those of these addresses that are deposit addresses on the network, or had stray money there. */
export async function findDepositAddresses(
  db: Reader,
  { network, addresses }: { network: string; addresses: readonly string[] },
): Promise<Set<string>> {
  const rows = await db<{ address: string }[]>`
    select address from deposits where network = ${network} and address = any(${addresses as string[]}::text[])
    union
    select d.address from deposit_strays s join deposits d on d.commitment = s.commitment
    where s.network = ${network} and d.network <> s.network and d.address = any(${addresses as string[]}::text[])`;
  return new Set(rows.map(({ address }) => address));
}

/** Deposit addresses with money by the books, the newest first, without those that are looked at again soon. */
export function listUnsweptDeposits(db: Reader, { network, limit }: { network: string; limit: number }) {
  return db<(Pick<Deposit, 'address' | 'asset' | 'paymentId'> & { readonly unswept: string })[]>`
    (select address, asset, payment_id as "paymentId", (arrived - swept)::text as unswept from deposits
      where network = ${network} and arrived <> swept and not is_stale and not is_unfinished order by number desc limit ${limit})
    union all
    (select d.address, s.asset, d.payment_id, (s.arrived - s.swept)::text
      from deposit_strays s join deposits d on d.commitment = s.commitment
      where s.network = ${network} and s.arrived <> s.swept and not s.is_stale and not s.is_unfinished
      order by s.found_at desc limit ${limit})`;
}

/**
 * Deposit addresses whose money has moved since the last look, whose look was cut off, or whose sweep would find nothing.
 * Anybody can send dust to some of them in every block, so they take turns: those after the number come first.
 */
export async function listStaleDeposits(
  db: Reader,
  { network, after, limit }: { network: string; after: number; limit: number },
): Promise<{ readonly deposits: readonly OpenDeposit[]; readonly last: number }> {
  const rows = await db<{ commitment: string; number: string }[]>`
    select commitment, number from (
      select commitment, number from deposits where network = ${network} and (is_stale or is_unfinished)
      union
      select d.commitment, d.number from items s join deposits d on d.network = s.network and d.address = s.payer
      where ${isVainSweep(db, network)} and s.asked is null
    ) stale order by number <= ${after}, number limit ${limit}`;
  const deposits = await readDeposits(
    db,
    rows.map(({ commitment }) => commitment),
  );
  return { deposits, last: Number(rows.at(-1)?.number ?? 0) };
}

/** The same for stray money on the network, after that commitment and asset. */
export async function listStaleStrays(
  db: Reader,
  { network, after: [commitment, asset], limit }: { network: string; after: readonly [string, string]; limit: number },
): Promise<OpenDeposit[]> {
  const rows = await db<(MoneyFields & { commitment: string; asset: string; checkedAt: string | null })[]>`
    select commitment, asset, arrived, swept, told, checked_block as "checkedAt" from deposit_strays
    where network = ${network} and (commitment, asset) in (
      select commitment, asset from deposit_strays where network = ${network} and (is_stale or is_unfinished)
      union
      select d.commitment, s.asset from items s join deposits d on d.payment_id = s.subject and d.asset = s.asked
      where ${isVainSweep(db, network)})
    order by (commitment, asset) <= (${commitment}, ${asset}), commitment, asset limit ${limit}`;
  const deposits = await readDeposits(db, [...new Set(rows.map(({ commitment }) => commitment))]);
  return rows.flatMap(({ commitment, checkedAt, ...stray }) => {
    const deposit = deposits.find((each) => each.commitment === commitment);
    return deposit === undefined
      ? []
      : [{ ...deposit, ...stray, network, isStray: true, checkedBlock: numberOf(checkedAt) }];
  });
}

type MoneyFields = Pick<OpenDeposit, 'arrived' | 'swept' | 'told'>;

/** The condition that the sweep `s` is due and would find nothing: somebody else has swept the address. */
function isVainSweep(db: Reader, network: string) {
  return db`s.network = ${network} and s.state = 'due' and s.purpose = 'sweep' and s.refusal = 'short_balance'`;
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
    isStray: false,
    item: row,
    checkedBlock: numberOf(checkedAt),
  }));
}

const numberOf = (text: string | null) => (text === null ? null : Number(text));

/** All addresses of payments to which money has come are looked at in the next round. */
export async function markStaleOf(tx: Tx, paymentIds: readonly string[]): Promise<void> {
  await tx`
    update deposits set is_stale = true where payment_id = any(${paymentIds as string[]}::text[]) and arrived > 0`;
}
