import { addressKey, caipKey } from '../../domain/addresses/families.ts';
import { addressKeySql, caipKeySql } from '../plumbing/address-key.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface EventState {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly isDecided: boolean;
  readonly problem: string | null;
}

export function findEventStates(
  db: Reader,
  { network, from, to }: { network: string; from: number; to: number },
): Promise<EventState[]> {
  return db<EventState[]>`
    select transaction_hash as "transactionHash", log_index as "logIndex", decided_at is not null as "isDecided", problem
    from chain_events where network = ${network} and block_number between ${from} and ${to}`;
}

/** The first block of a network with an entry of the books or an event of our contracts. */
export async function firstKnownBlock(db: Reader, network: string): Promise<number | undefined> {
  const [row] = await db<{ block: string | null }[]>`
    select least(
      (select min(block_number) from book_entries where network = ${network}),
      (select min(block_number) from chain_events where network = ${network})) as block`;
  return row?.block == null ? undefined : Number(row.block);
}

/** The given references whose money a deep reorg once removed from the chain, according to the books. */
export async function findReverted(db: Reader, references: readonly string[]): Promise<Set<string>> {
  const rows = await db<{ reference: string }[]>`
    select distinct reference from book_entries
    where reference = any(${references as string[]}::text[]) and kind in ('reverted', 'unswept')`;
  return new Set(rows.map(({ reference }) => reference));
}

export interface DestinationOwner {
  readonly asset: string;
  /** The destination as a CAIP-10 account. */
  readonly destination: string;
  readonly merchantId: string;
}

/** The merchants whose settlement destination is one of these accounts (CAIP-10). */
export function findDestinationOwners(db: Reader, destinations: readonly string[]): Promise<DestinationOwner[]> {
  return db<DestinationOwner[]>`
    select asset, destination, merchant_id as "merchantId" from crypto_settlements
    where ${caipKeySql(db, db`destination`)} = any(${destinations.map(caipKey)}::text[])`;
}

interface AssetUnits {
  readonly asset: string;
  readonly units: bigint;
}

/**
 * The balance that accounts of ours must have together at a block, according to the books. It is the present sum of the book accounts with
 * these prefixes, less the entries of later blocks, plus the undecided Collector events up to the block. Fees count if they go to the same
 * accounts. A single statement reads all parts. Otherwise the watcher could write between two reads, and an amount would be counted twice
 * or not at all.
 */
export async function heldAt(
  db: Reader,
  ask: {
    readonly network: string;
    readonly addresses: readonly string[];
    readonly block: number;
    readonly accounts: readonly string[];
    readonly hasFees: boolean;
  },
): Promise<(AssetUnits & { readonly fees: bigint })[]> {
  const { network, block, accounts, hasFees } = ask;
  const keys = ask.addresses.map((address) => addressKey(network, address));
  const isOwn = (column: Fragment) => db`${addressKeySql(db, network, column)} = any(${keys}::text[])`;
  const isBooked = db`(account ^@ any(${accounts as string[]}::text[]) or ${hasFees} and account = 'fees')`;
  const rows = await db<{ asset: string; units: string; fees: string }[]>`
    select asset, sum(units)::text as units, coalesce(sum(units) filter (where account = 'fees'), 0)::text as fees from (
      ${bookedParts(db, { network, own: isBooked, block: db`${block}::bigint` })}
      union all
      select i.asset, 'undecided',
        case when ${isOwn(db`i.recipient`)} then i.amount - i.fee else 0 end
        + case when ${isOwn(db`i.fee_account`)} then i.fee else 0 end
        - case when ${isOwn(db`i.payer`)} then i.amount else 0 end
      from chain_events e join items i on i.commitment = e.commitment
      where e.network = ${network} and e.type = 'paid' and e.block_number <= ${block} and e.decided_at is null
        and i.state <> 'paid'
      union all
      select e.asset, 'undecided',
        case when ${isOwn(db`i.recipient`)} then e.amount - e.fee else 0 end
        + case when ${isOwn(db`i.fee_account`)} then e.fee else 0 end
      from (
        select commitment, fields ->> 'asset' as asset, (fields ->> 'amount')::numeric as amount,
          (fields ->> 'fee')::numeric as fee
        from chain_events
        where network = ${network} and type = 'swept' and block_number <= ${block} and decided_at is null
      ) e join items i on i.commitment = e.commitment
    ) as parts group by asset order by asset`;
  return rows.map(({ asset, units, fees }) => ({ asset, units: BigInt(units), fees: BigInt(fees) }));
}

/**
 * The amounts that add up to the balances of book accounts at a block, as rows (asset, account, units): stored balances, unsealed entries,
 * and entries of later blocks with the opposite sign. `own` is an SQL condition on `account`.
 */
export function bookedParts(
  db: Reader,
  { network, own, block }: { readonly network: string; readonly own: Fragment; readonly block: Fragment },
) {
  const lines = db`book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)`;
  return db`
    select asset, account, units from book_balances where network = ${network} and ${own}
    union all
    select b.asset, l.account, l.units from ${lines} where b.network = ${network} and b.sequence is null and ${own}
    union all
    select b.asset, l.account, -l.units from ${lines} where b.network = ${network} and b.block_number > ${block} and ${own}`;
}

type Fragment = ReturnType<Reader>;

/** The block up to which the last audit found that the books agree with the chain. */
export async function findAuditedBlock(db: Reader, network: string): Promise<number | undefined> {
  const [row] = await db<{ block: string }[]>`
    select block_number as block from book_audits where network = ${network}`;
  return row && Number(row.block);
}

export async function putAuditedBlock(tx: Tx, network: string, block: number): Promise<void> {
  await tx`
    insert into book_audits (network, block_number) values (${network}, ${block})
    on conflict (network) do update set block_number = excluded.block_number`;
}

/** The block up to which every change of an account's coin balance is explained. Undefined before the first check. */
export async function findCoinCursor(db: Reader, network: string, account: string): Promise<number | undefined> {
  const [row] = await db<{ block: string }[]>`
    select block_number as block from coin_cursors where network = ${network} and account = ${account}`;
  return row && Number(row.block);
}

export async function putCoinCursor(
  tx: Tx,
  { network, account, block }: { network: string; account: string; block: number },
): Promise<void> {
  await tx`
    insert into coin_cursors (network, account, block_number) values (${network}, ${account}, ${block})
    on conflict (network, account) do update set block_number = greatest(coin_cursors.block_number, excluded.block_number)`;
}

/**
 * Sets the coin cursors of a network back to this block. Later blocks are then read again, because the rows about them may have been lost.
 */
export async function rewindCoinCursors(tx: Tx, network: string, block: number): Promise<void> {
  await tx`
    update coin_cursors set block_number = least(block_number, ${block}) where network = ${network}`;
}
