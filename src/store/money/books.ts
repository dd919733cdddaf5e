import type { PlacedEntry } from '../../domain/book-chain.ts';
import type { Entry, EntryKind, Line } from '../../domain/books.ts';
import { lineOfEntry } from '../../domain/money-line.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { lockNames } from '../plumbing/locks.ts';

export interface StoredEntry extends Entry {
  readonly id: string;
  readonly at: Date;
  /** The entry's number in the hash chain of its network. Null until the entry is sealed. */
  readonly sequence: number | null;
  readonly hash: string | null;
}

/** Inserts entries into the books. The database refuses an entry whose lines do not sum up to zero. */
export async function insertEntries(tx: Tx, entries: readonly Entry[], at: Date): Promise<void> {
  tx.outbox.money.push(...entries.flatMap((entry) => lineOfEntry(entry, at)));
  const rows = entries.map(({ lines, ...rest }) => ({ ...rest, lines: lines.map(written) }));
  await tx`
    insert into book_entries (network, asset, kind, subject, reference, merchant_id, transaction_hash, block_number, note,
      at, lines)
    select e.network, e.asset, e.kind, e.subject, e.reference, e."merchantId", e.transaction, e.block, e.note, ${at}, e.lines
    from jsonb_to_recordset(${tx.json(rows as never)}) as e(
      network text, asset text, kind text, subject text, reference text, "merchantId" text, transaction text,
      block bigint, note text, lines jsonb)`;
}

/** The oldest entries of a network that have no hash in its hash chain yet. */
export async function findUnsealed(db: Reader, network: string, limit: number): Promise<StoredEntry[]> {
  const rows = await db<EntryRow[]>`
    select ${entryColumns(db)} from book_entries
    where network = ${network} and sequence is null order by id limit ${limit}`;
  return rows.map(readEntry);
}

/** The newest link of the hash chain over the book entries of a network. */
export interface ChainHead {
  readonly network: string;
  readonly sequence: number;
  readonly hash: string;
}

export async function findHead(db: Reader, network: string): Promise<ChainHead | undefined> {
  const [row] = await db<(Omit<ChainHead, 'sequence'> & { sequence: string })[]>`
    select network, sequence, hash from book_chains where network = ${network}`;
  return row && { ...row, sequence: Number(row.sequence) };
}

/** Stores the sequence and hash of entries, moves the head of the hash chain, and adds the entries to the stored balances. */
export async function sealEntries(tx: Tx, head: ChainHead, seals: readonly Seal[]): Promise<void> {
  const { network, sequence, hash } = head;
  const { count } = await tx`
    update book_entries b set sequence = s.sequence, hash = s.hash
    from jsonb_to_recordset(${tx.json(seals as never)}) as s(id bigint, sequence bigint, hash text)
    where b.id = s.id and b.sequence is null`;
  if (count !== seals.length) throw new Error('Another node sealed an entry.');
  await tx`
    insert into book_chains (network, sequence, hash) values (${network}, ${sequence}, ${hash})
    on conflict (network) do update set sequence = excluded.sequence, hash = excluded.hash`;
  await tx`
    insert into book_balances (network, account, asset, units)
    select b.network, l.account, b.asset, sum(l.units)
    from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
    where b.id in (select s.id from jsonb_to_recordset(${tx.json(seals as never)}) as s(id bigint))
    group by b.network, l.account, b.asset
    on conflict (network, account, asset) do update set units = book_balances.units + excluded.units`;
}

export interface Seal {
  readonly id: string;
  readonly sequence: number;
  readonly hash: string;
}

/** Computes the stored balances of a network anew from the sealed entries. Only a repair needs this. */
export async function refoldBalances(tx: Tx, network: string): Promise<void> {
  // Locks the head of the hash chain, so that `sealEntries` waits until this transaction ends.
  await tx`select from book_chains where network = ${network} for update`;
  await tx`delete from book_balances where network = ${network}`;
  await tx`
    insert into book_balances (network, account, asset, units)
    select network, account, asset, units from (${sealedSums(tx, network)}) as sums`;
}

export interface Balance {
  readonly network: string;
  readonly account: string;
  readonly asset: string;
  readonly units: bigint;
}

/** The balance of every book account of a network, unsealed entries included. */
export async function listBalances(db: Reader, network: string): Promise<Balance[]> {
  const rows = await db<BalanceRow[]>`
    select network, account, asset, sum(units)::text as units from (
      select network, account, asset, units from book_balances where network = ${network}
      union all
      select b.network, l.account, b.asset, l.units
      from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
      where b.network = ${network} and b.sequence is null
    ) as parts
    group by network, account, asset having sum(units) <> 0 order by account, asset`;
  return rows.map(readBalance);
}

/** The balance of a book account, locked until the database transaction ends, so that only this transaction can spend it. */
export async function lockBalance(tx: Tx, account: string, asset: string): Promise<bigint> {
  const [network = ''] = asset.split('/');
  const [balance] = await lockBalances(tx, [{ network, account, asset }]);
  return balance?.units ?? 0n;
}

/**
 * The balances of book accounts, locked until the database transaction ends, so that only this transaction can spend them. Locks are taken
 * in the order of their names, to prevent deadlocks. Entries that only increase a balance need no lock.
 */
export async function lockBalances(tx: Tx, accounts: readonly Omit<Balance, 'units'>[]): Promise<Balance[]> {
  await lockNames(tx, accounts.map(({ account, asset }) => `book ${account} ${asset}`).toSorted());
  const rows = await tx<BalanceRow[]>`
    with asked as (
      select * from jsonb_to_recordset(${tx.json(accounts as never)}) as a(network text, account text, asset text)
    ), unsealed as (
      select b.network, l.account, b.asset, sum(l.units) as units
      from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
      where b.sequence is null and b.network in (select network from asked) group by b.network, l.account, b.asset
    )
    select a.network, a.account, a.asset, (coalesce(k.units, 0) + coalesce(u.units, 0))::text as units
    from asked a
    left join book_balances k on k.network = a.network and k.account = a.account and k.asset = a.asset
    left join unsealed u on u.network = a.network and u.account = a.account and u.asset = a.asset`;
  return rows.map(readBalance);
}

/** Book accounts whose stored balance differs from the sum of the sealed entries. */
export async function findWrongBalances(db: Reader, network: string) {
  return db<{ account: string; asset: string; kept: string; computed: string }[]>`
    select coalesce(k.account, s.account) as account, coalesce(k.asset, s.asset) as asset,
      coalesce(k.units, 0)::text as kept, coalesce(s.units, 0)::text as computed
    from (select account, asset, units from book_balances where network = ${network}) as k
    full join (${sealedSums(db, network)}) as s on s.account = k.account and s.asset = k.asset
    where coalesce(k.units, 0) <> coalesce(s.units, 0)
    order by 1, 2`;
}

/** Assets whose balance of the book account `in_flight` differs from the sum of open items. */
export async function findWrongInFlight(db: Reader, network: string) {
  return db<{ asset: string; booked: string; items: string }[]>`
    with booked as (
      select b.asset, sum(l.units) as units
      from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
      where b.network = ${network} and l.account = 'in_flight' group by b.asset
    ), open as (
      select asset, sum(amount) as units from items
      where network = ${network} and state in ('due', 'sent') and purpose = 'payment'
        -- Authorizations to a deposit address are booked when their money arrives there.
        and method not in ('deposit-vrs', 'deposit-bytes')
      group by asset
    )
    select coalesce(b.asset, o.asset) as asset, coalesce(b.units, 0)::text as booked, coalesce(o.units, 0)::text as items
    from booked b full join open o on o.asset = b.asset
    where coalesce(b.units, 0) <> coalesce(o.units, 0) order by 1`;
}

/** The sealed entries of a network after this sequence, in the order of the hash chain. */
export async function listSealed(db: Reader, network: string, after: number, limit: number): Promise<SealedEntry[]> {
  const rows = await db<EntryRow[]>`
    select ${entryColumns(db)} from book_entries
    where network = ${network} and sequence > ${after} order by sequence limit ${limit}`;
  return rows.map(readEntry) as SealedEntry[];
}

export type SealedEntry = StoredEntry & PlacedEntry & { readonly hash: string };

export async function countUnsealed(db: Reader, network: string): Promise<{ count: number; oldest: Date | null }> {
  const [row] = await db<{ count: number; oldest: Date | null }[]>`
    select count(*)::int as count, min(at) as oldest from book_entries where network = ${network} and sequence is null`;
  return row ?? { count: 0, oldest: null };
}

export async function listBookNetworks(db: Reader): Promise<string[]> {
  const rows = await db<{ network: string }[]>`
    select network from book_chains union select network from book_entries where sequence is null order by network`;
  return rows.map(({ network }) => network);
}

/** The balances that the entries of each reference add up to, by reference and account. */
export async function positionsOf(db: Reader, references: readonly string[]): Promise<Map<string, Line[]>> {
  const rows = await db<{ reference: string; account: string; units: string }[]>`
    select b.reference, l.account, sum(l.units)::text as units
    from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
    where b.reference = any(${references as string[]}::text[])
    group by b.reference, l.account having sum(l.units) <> 0 order by b.reference, l.account`;
  const positions = Map.groupBy(rows, ({ reference }) => reference);
  return new Map(
    [...positions].map(([reference, lines]) => [
      reference,
      lines.map(({ account, units }) => ({ account, units: BigInt(units) })),
    ]),
  );
}

/** Hashes of transactions on chain whose gas is in the books, but whose send is not stored: a rebuild has read them from the chain. */
export async function findGasWithoutSend(db: Reader, network: string): Promise<string[]> {
  const rows = await db<{ hash: string }[]>`
    select distinct reference as hash from book_entries b
    where network = ${network} and kind = 'gas'
      and not exists (select from relay_versions v where v.hash = b.reference)`;
  return rows.map(({ hash }) => hash);
}

export async function listEntriesInBlocks(
  db: Reader,
  { network, kinds, from, to }: { network: string; kinds: readonly EntryKind[]; from: number; to: number },
): Promise<StoredEntry[]> {
  const rows = await db<EntryRow[]>`
    select ${entryColumns(db)} from book_entries
    where network = ${network} and block_number between ${from} and ${to} and kind = any(${kinds as string[]}::text[])
    order by block_number, id`;
  return rows.map(readEntry);
}

type EntryRow = Omit<StoredEntry, 'lines' | 'sequence' | 'block'> & {
  lines: { account: string; units: string }[];
  sequence: string | null;
  block: string | null;
};
type BalanceRow = Omit<Balance, 'units'> & { units: string };

function readEntry({ lines, sequence, block, ...rest }: EntryRow): StoredEntry {
  return {
    ...rest,
    sequence: sequence === null ? null : Number(sequence),
    block: block === null ? null : Number(block),
    lines: lines.map(({ account, units }) => ({ account, units: readUnits(units) })),
  };
}

/**
 * The amount of a line. A tampered entry may contain any text. Text that is no number counts as 0: then the hash of the entry cannot match.
 */
function readUnits(units: string): bigint {
  return /^-?[0-9]+$/.test(units) ? BigInt(units) : 0n;
}

function readBalance({ units, ...rest }: BalanceRow): Balance {
  return { ...rest, units: BigInt(units) };
}

function written({ account, units }: Line) {
  return { account, units: units.toString() };
}

function sealedSums(db: Reader, network: string) {
  return db`
    select b.network, l.account, b.asset, sum(l.units) as units
    from book_entries b, jsonb_to_recordset(b.lines) as l(account text, units numeric)
    where b.network = ${network} and b.sequence is not null group by b.network, l.account, b.asset`;
}

function entryColumns(db: Reader) {
  return db`id, network, asset, kind, subject, reference, merchant_id as "merchantId", transaction_hash as transaction,
    block_number as block, note, at, lines, sequence, hash`;
}
