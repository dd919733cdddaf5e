import type { Reader, Tx } from '../plumbing/database.ts';
import type { Deposit } from './deposits.ts';

/** Amounts of money at deposit addresses: the asked asset in `deposits`, everything else in `deposit_strays`. */

/** The money of an asset at a deposit address. */
export interface MoneyPlace {
  readonly commitment: string;
  /** The network and the asset of the money. */
  readonly network: string;
  readonly asset: string;
  /** True if the payment did not ask for it: another asset, or another network. */
  readonly isStray: boolean;
}

export interface MoneyRow {
  /** All that has arrived by the last look, swept or not. */
  readonly arrived: bigint;
  readonly swept: bigint;
  /** The part that no payment needed, and that was named to the partner. */
  readonly told: bigint;
  /** How often a sweep was ordered. */
  readonly sweeps: number;
  /** Held money of removed sweeps that was spent already. The next sweep replaces it. */
  readonly owed: bigint;
}

/** Locks the amounts. The payment must be locked before. */
export async function lockMoney(tx: Tx, place: MoneyPlace): Promise<MoneyRow | undefined> {
  const [row] = await tx<(Record<'arrived' | 'swept' | 'told' | 'owed', string> & { sweeps: number })[]>`
    select arrived, swept, told, sweeps, owed from ${tableOf(tx, place)} where ${isPlace(tx, place)} for update`;
  if (row === undefined) return undefined;
  const { arrived, swept, told, sweeps, owed } = row;
  return { arrived: BigInt(arrived), swept: BigInt(swept), told: BigInt(told), sweeps, owed: BigInt(owed) };
}

/**
 * Stores the money that had arrived at a final block, and begins a look at it, which stays unfinished until `endLook`. The
 * address stays stale while later transfers are known.
 */
export async function putArrived(
  tx: Tx,
  place: MoneyPlace,
  { arrived, block }: { arrived: bigint; block: number },
): Promise<void> {
  await tx`
    update ${tableOf(tx, place)}
    set arrived = ${arrived.toString()}, checked_block = ${block}, is_unfinished = true, is_stale = exists (
      select from deposit_transfers t
      where t.commitment = ${place.commitment} and t.network = ${place.network} and t.asset = ${place.asset}
        and t.block_number > ${block})
    where ${isPlace(tx, place)}`;
}

/** Everything that follows from the last look is done. */
export async function endLook(tx: Tx, place: MoneyPlace): Promise<void> {
  await tx`update ${tableOf(tx, place)} set is_unfinished = false where ${isPlace(tx, place)}`;
}

export async function putSwept(tx: Tx, place: MoneyPlace, swept: bigint): Promise<void> {
  await tx`update ${tableOf(tx, place)} set swept = ${swept.toString()}, is_stale = true where ${isPlace(tx, place)}`;
}

export async function putTold(tx: Tx, place: MoneyPlace, told: bigint): Promise<void> {
  await tx`update ${tableOf(tx, place)} set told = ${told.toString()} where ${isPlace(tx, place)}`;
}

export async function putOwed(tx: Tx, place: MoneyPlace, owed: bigint): Promise<void> {
  await tx`update ${tableOf(tx, place)} set owed = ${owed.toString()} where ${isPlace(tx, place)}`;
}

export async function countSweep(tx: Tx, place: MoneyPlace): Promise<void> {
  await tx`update ${tableOf(tx, place)} set sweeps = sweeps + 1 where ${isPlace(tx, place)}`;
}

/** The money is looked at in the next round of its network. A stray becomes known by it. */
export async function markStale(tx: Tx, place: MoneyPlace, at: Date): Promise<void> {
  const { commitment, network, asset } = place;
  await (place.isStray
    ? tx`
        insert into deposit_strays (commitment, network, asset, found_at)
        values (${commitment}, ${network}, ${asset}, ${at})
        on conflict (commitment, network, asset) do update set is_stale = true`
    : tx`update deposits set is_stale = true where commitment = ${commitment}`);
}

/** The open sweeps of this money. */
export function findOpenSweeps(
  db: Reader,
  { address, network, asset }: Pick<Deposit, 'address' | 'network' | 'asset'>,
) {
  return db<{ commitment: string; state: 'due' | 'sent' }[]>`
    select commitment, state from items
    where network = ${network} and payer = ${address} and asset = ${asset} and purpose = 'sweep'
      and state in ('due', 'sent')`;
}

/** Ends the sweeps of a payment's deposit address, and its authorizations, that this transaction has carried out. */
export async function endSweepsBy(
  tx: Tx,
  {
    network,
    asset,
    address,
    subject,
    transaction,
    at,
  }: { network: string; asset: string; address: string; subject: string; transaction: string; at: Date },
): Promise<void> {
  await tx`
    update items set state = 'paid', ended_at = ${at}
    where network = ${network} and subject = ${subject} and asset = ${asset} and state in ('due', 'sent')
      and (purpose = 'sweep' and payer = ${address} or method in ('deposit-vrs', 'deposit-bytes'))
      and commitment in (
        select si.commitment from send_versions v
        join send_items si on si.network = v.network and si.signer = v.signer and si.nonce = v.nonce
        where v.hash = ${transaction})`;
}

/** The events of sweeps of this money up to a block: their sum, and whether one of them is undecided. */
export async function sumSweeps(
  db: Reader,
  { network, commitment, asset, upTo }: Omit<MoneyPlace, 'isStray'> & { upTo: number },
): Promise<{ total: bigint; isUndecided: boolean }> {
  const [row] = await db<{ total: string; isUndecided: boolean }[]>`
    select coalesce(sum((fields ->> 'amount')::numeric), 0)::text as total,
      coalesce(bool_or(decided_at is null), false) as "isUndecided"
    from chain_events
    where network = ${network} and commitment = ${commitment} and type = 'swept' and problem is null
      and fields ->> 'asset' = ${asset} and block_number <= ${upTo}`;
  return { total: BigInt(row?.total ?? '0'), isUndecided: row?.isUndecided ?? false };
}

/** Stray money of these addresses that is known, on that network. */
export function listStraysOf(
  db: Reader,
  { network, commitments }: { network: string; commitments: readonly string[] },
) {
  return db<{ commitment: string; asset: string }[]>`
    select commitment, asset from deposit_strays
    where network = ${network} and commitment = any(${commitments as string[]}::text[])`;
}

function tableOf(db: Reader, { isStray }: MoneyPlace) {
  return isStray ? db`deposit_strays` : db`deposits`;
}

function isPlace(db: Reader, { commitment, network, asset, isStray }: MoneyPlace) {
  return isStray
    ? db`commitment = ${commitment} and network = ${network} and asset = ${asset}`
    : db`commitment = ${commitment}`;
}
