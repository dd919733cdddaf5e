import type { Reader, Tx } from '../plumbing/database.ts';
import type { ItemPurpose } from './items.ts';

export interface StoredEvent {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly commitment: string;
  readonly type: 'paid' | 'refused' | 'swept';
  /** The fields of the event that have no column. Numbers are decimal strings. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Stores events, and returns the number of new and moved ones. An event whose transaction moved to another block keeps its row, which gets
 * the new block and is undecided again. Duplicates in one call are stored once: an endpoint may repeat logs, and two endpoints report the
 * same logs.
 */
export async function putEvents(tx: Tx, network: string, events: readonly StoredEvent[], at: Date): Promise<number> {
  const { count } = await tx`
    ${insertedEvents(tx, network, events, at)}
    on conflict (network, transaction_hash, log_index) do update
    set block_number = excluded.block_number, block_hash = excluded.block_hash, commitment = excluded.commitment,
      type = excluded.type, fields = excluded.fields, read_at = excluded.read_at, decided_at = null, problem = null
    where chain_events.block_hash <> excluded.block_hash`;
  return count;
}

/**
 * Stores events that were read from another source than a list of logs, such as a receipt. Returns the number of new events. Stored
 * events stay unchanged.
 */
export async function addEvents(tx: Tx, network: string, events: readonly StoredEvent[], at: Date): Promise<number> {
  const { count } = await tx`
    ${insertedEvents(tx, network, events, at)} on conflict (network, transaction_hash, log_index) do nothing`;
  return count;
}

function insertedEvents(tx: Tx, network: string, events: readonly StoredEvent[], at: Date) {
  return tx`
    insert into chain_events
      (network, transaction_hash, log_index, block_number, block_hash, commitment, type, fields, read_at)
    select distinct on (e."transactionHash", e."logIndex") ${network}, e."transactionHash", e."logIndex",
      e."blockNumber", e."blockHash", e.commitment, e.type, e.fields, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(events as never)})
      as e("transactionHash" text, "logIndex" int, "blockNumber" bigint, "blockHash" text, commitment text, type text,
        fields jsonb)`;
}

/** For each type of event, the last event that `findUndecidedEvents` returned. The next round continues after it. */
export type EventTurns = ReadonlyMap<StoredEvent['type'], Pick<StoredEvent, 'blockNumber' | 'logIndex'>>;

/**
 * Undecided events up to a block. Events of our items come first, because strangers can cause any number of other events. Types take
 * turns, payments first, because strangers can cause any number of refusals and sweeps of our items, too. Each type continues after
 * its last event, because events about which the endpoints contradict each other must not fill the round.
 */
export async function findUndecidedEvents(
  db: Reader,
  { network, upTo, turns, limit }: { network: string; upTo: number; turns: EventTurns; limit: number },
): Promise<StoredEvent[]> {
  const rows = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string })[]>`
    with undecided as (
      select *, not exists (select from items i where i.commitment = chain_events.commitment) as is_strange,
        ${db.json(Object.fromEntries(turns))}::jsonb -> type as last
      from chain_events
      where network = ${network} and decided_at is null and block_number <= ${upTo}
    )
    select ${eventColumns(db)} from undecided
    order by is_strange, row_number() over (
        partition by is_strange, type
        order by (block_number, log_index) <= ((last ->> 'blockNumber')::bigint, (last ->> 'logIndex')::int) is true,
          block_number, log_index),
      type
    limit ${limit}`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** The first block with a payment event or a sweep event that is undecided. */
export async function findFirstUndecided(db: Reader, network: string): Promise<number | undefined> {
  const [row] = await db<{ number: string | null }[]>`
    select min(block_number) as number from chain_events
    where network = ${network} and decided_at is null and type in ('paid', 'swept')`;
  return row === undefined || row.number === null ? undefined : Number(row.number);
}

/** Undecided events of payments in native coin, at any depth, whose payment still waits for the payer. */
export async function findArrivingCoin(
  db: Reader,
  { network, limit }: { network: string; limit: number },
): Promise<StoredEvent[]> {
  const rows = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string })[]>`
    select ${eventColumns(db)} from chain_events e
    where network = ${network} and decided_at is null and type = 'paid' and exists (
      select from items i join payments p on p.id = i.subject
      where i.commitment = e.commitment and i.network = e.network and i.state = 'offered'
        and p.status = 'requires_action')
    order by block_number limit ${limit}`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** The given commitments that have a paid event, at any depth. */
export async function findPaidCommitments(
  db: Reader,
  { network, commitments }: { network: string; commitments: readonly string[] },
): Promise<Set<string>> {
  const rows = await db<{ commitment: string }[]>`
    select distinct commitment from chain_events
    where network = ${network} and commitment = any(${commitments as string[]}::text[]) and type = 'paid'`;
  return new Set(rows.map(({ commitment }) => commitment));
}

/** The given commitments that have a decided event. */
export async function findDecidedCommitments(
  db: Reader,
  { network, commitments }: { network: string; commitments: readonly string[] },
): Promise<Set<string>> {
  const rows = await db<{ commitment: string }[]>`
    select distinct commitment from chain_events
    where network = ${network} and commitment = any(${commitments as string[]}::text[]) and decided_at is not null`;
  return new Set(rows.map(({ commitment }) => commitment));
}

/** A transfer by which the Collector executed an item, with the account that paid. */
export interface TransferByItem {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly asset: string;
  readonly payer: string;
  readonly recipient: string;
}

/** The transfers by which the Collector executed items in these transactions, in the order of logs. */
export function findPayersOf(
  db: Reader,
  network: string,
  transactionHashes: readonly string[],
): Promise<TransferByItem[]> {
  return db<TransferByItem[]>`
    select transaction_hash as "transactionHash", log_index as "logIndex", fields ->> 'asset' as asset,
      fields ->> 'payer' as payer, fields ->> 'recipient' as recipient
    from chain_events
    where network = ${network} and transaction_hash = any(${transactionHashes as string[]}::text[]) and type = 'paid'
    order by transaction_hash, log_index`;
}

/** A paid or swept event, with the terms of its item. */
export interface EventOfItem {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly type: 'paid' | 'swept';
  readonly commitment: string;
  readonly asset: string;
  readonly amount: string;
  readonly fee: string;
  readonly recipient: string;
  /** The release of the Collector. Null, like `feeAccount` and `purpose`, if no stored item has the commitment. */
  readonly collector: string | null;
  readonly feeAccount: string | null;
  readonly purpose: ItemPurpose | null;
  readonly payer: string;
}

/** The paid and swept events of these transactions with the terms of their items, in the order of logs. */
export async function listEventsOfItems(
  db: Reader,
  network: string,
  transactionHashes: readonly string[],
): Promise<EventOfItem[]> {
  const rows = await db<(Omit<EventOfItem, 'blockNumber'> & { blockNumber: string })[]>`
    select e.transaction_hash as "transactionHash", e.log_index as "logIndex", e.block_number as "blockNumber", e.type,
      e.commitment, e.fields ->> 'asset' as asset, e.fields ->> 'amount' as amount, e.fields ->> 'fee' as fee,
      e.fields ->> 'recipient' as recipient, coalesce(e.fields ->> 'payer', i.payer, '') as payer, i.collector,
      i.fee_account as "feeAccount", i.purpose
    from chain_events e left join items i on i.commitment = e.commitment
    where e.network = ${network} and e.transaction_hash = any(${transactionHashes as string[]}::text[])
      and e.type in ('paid', 'swept')
    order by e.transaction_hash, e.log_index`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** The decided paid and swept events of these commitments, on all networks. */
export async function listFactsOf(
  db: Reader,
  commitments: readonly string[],
): Promise<(StoredEvent & { readonly network: string })[]> {
  const rows = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string; network: string })[]>`
    select network, ${eventColumns(db)} from chain_events
    where commitment = any(${commitments as string[]}::text[]) and type in ('paid', 'swept') and decided_at is not null
      and problem is null`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** The first event that paid an item. If `before` is given, only earlier events count. Undefined if there is none. */
export async function findPaidEvent(
  db: Reader,
  {
    network,
    commitment,
    before,
  }: { network: string; commitment: string; before?: Pick<StoredEvent, 'blockNumber' | 'logIndex'> },
): Promise<StoredEvent | undefined> {
  const [row] = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string })[]>`
    select ${eventColumns(db)} from chain_events
    where network = ${network} and commitment = ${commitment} and type = 'paid' and problem is null
      and ${before === undefined ? db`true` : db`(block_number, log_index) < (${before.blockNumber}, ${before.logIndex})`}
    order by block_number, log_index limit 1`;
  return row && { ...row, blockNumber: Number(row.blockNumber) };
}

export interface DecidedEvent extends Pick<StoredEvent, 'transactionHash' | 'logIndex'> {
  /** The reason why the watcher set the event aside. Null if it accepted the event. */
  readonly problem: string | null;
}

export async function markDecided(tx: Tx, network: string, events: readonly DecidedEvent[], at: Date): Promise<void> {
  await tx`
    update chain_events e set decided_at = ${at}, problem = d.problem
    from jsonb_to_recordset(${tx.json(events as never)}) as d("transactionHash" text, "logIndex" int, problem text)
    where e.network = ${network} and e.transaction_hash = d."transactionHash" and e.log_index = d."logIndex"`;
}

/**
 * Decided sweeps in the order of the chain: all above a block, or all of one asset from one deposit address. Sweeps with a problem are left
 * out.
 */
export async function listDecidedSweeps(
  db: Reader,
  ask: { network: string } & ({ above: number } | { commitment: string; asset: string }),
): Promise<StoredEvent[]> {
  const { network } = ask;
  const isWanted =
    'above' in ask
      ? db`block_number > ${ask.above}`
      : db`commitment = ${ask.commitment} and fields ->> 'asset' = ${ask.asset}`;
  const rows = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string })[]>`
    select ${eventColumns(db)} from chain_events
    where network = ${network} and ${isWanted} and type = 'swept' and decided_at is not null and problem is null
    order by block_number, log_index`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** All sweeps in a range of blocks, decided or not. Sweeps with a problem are left out. */
export async function listSweepsInBlocks(
  db: Reader,
  { network, from, to }: { network: string; from: number; to: number },
): Promise<(StoredEvent & { readonly isDecided: boolean })[]> {
  const rows = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string; isDecided: boolean })[]>`
    select ${eventColumns(db)}, decided_at is not null as "isDecided" from chain_events
    where network = ${network} and block_number between ${from} and ${to} and type = 'swept' and problem is null`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** The largest decided sweeps of an asset from a deposit address, in the order of the chain. */
export async function listLargestSweeps(
  db: Reader,
  { network, commitment, asset, limit }: { network: string; commitment: string; asset: string; limit: number },
): Promise<StoredEvent[]> {
  const rows = await db<(Omit<StoredEvent, 'blockNumber'> & { blockNumber: string })[]>`
    select * from (
      select ${eventColumns(db)} from chain_events
      where network = ${network} and commitment = ${commitment} and type = 'swept' and decided_at is not null
        and problem is null and fields ->> 'asset' = ${asset}
      order by (fields ->> 'amount')::numeric desc, block_number, log_index limit ${limit}
    ) largest order by "blockNumber", "logIndex"`;
  return rows.map((row) => ({ ...row, blockNumber: Number(row.blockNumber) }));
}

/** Makes paid events undecided again, because their items were unknown when the watcher decided them. */
export async function reconsiderEvents(tx: Tx, network: string, commitments: readonly string[]): Promise<void> {
  await tx`
    update chain_events set decided_at = null
    where network = ${network} and commitment = any(${commitments as string[]}::text[]) and type = 'paid'
      and problem is null`;
}

/** Makes the sweeps of a deposit address undecided again, because the address was unknown when the watcher decided them. */
export async function reconsiderSweeps(tx: Tx, network: string, commitment: string): Promise<void> {
  await tx`
    update chain_events set decided_at = null
    where network = ${network} and commitment = ${commitment} and type = 'swept' and problem is null`;
}

/** Deletes events that are not on the chain. An event that has meanwhile moved to another block stays. */
export async function deleteEvents(
  tx: Tx,
  network: string,
  events: readonly Pick<StoredEvent, 'transactionHash' | 'logIndex' | 'blockHash'>[],
): Promise<void> {
  await tx`
    delete from chain_events e
    using jsonb_to_recordset(${tx.json(events as never)}) as d("transactionHash" text, "logIndex" int, "blockHash" text)
    where e.network = ${network} and e.transaction_hash = d."transactionHash" and e.log_index = d."logIndex"
      and e.block_hash = d."blockHash"`;
}

/** Decided facts whose events a reorg has removed: payments of items, and sweeps of deposit addresses. */
export interface LostFacts {
  readonly unpaid: readonly string[];
  readonly unswept: readonly { readonly commitment: string; readonly paymentId: string }[];
}

/**
 * Deletes the events above block `number`, which a reorg has removed, and returns the decided facts among them. Events of stored items are
 * copied to `lost_events`, where people can read them.
 */
export async function deleteEventsAbove(tx: Tx, network: string, number: number, at: Date): Promise<LostFacts> {
  const rows = await tx<{ commitment: string; type: string; paymentId: string | null }[]>`
    with gone as (
      delete from chain_events where network = ${network} and block_number > ${number}
      returning transaction_hash, commitment, type, block_number, block_hash, read_at, decided_at
    ), kept as (
      insert into lost_events
        (network, transaction_hash, commitment, type, block_number, block_hash, fork_number, read_at, lost_at)
      select ${network}, g.transaction_hash, g.commitment, g.type, g.block_number, g.block_hash, ${number}, g.read_at,
        ${at}
      from gone g join items i on i.commitment = g.commitment
    )
    select distinct g.commitment, g.type, p.payment_id as "paymentId"
    from gone g left join deposit_places p on p.network = ${network} and p.commitment = g.commitment
    where g.type in ('paid', 'swept') and g.decided_at is not null`;
  return {
    unpaid: rows.filter(({ type }) => type === 'paid').map(({ commitment }) => commitment),
    unswept: rows.flatMap(({ type, commitment, paymentId }) =>
      type === 'swept' && paymentId !== null ? [{ commitment, paymentId }] : [],
    ),
  };
}

function eventColumns(db: Reader) {
  return db`transaction_hash as "transactionHash", log_index as "logIndex", block_number as "blockNumber",
    block_hash as "blockHash", commitment, type, fields`;
}
