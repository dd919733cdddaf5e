import type { LateReason } from '../../domain/late-money.ts';
import type { Lot } from '../../domain/money/terms.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { itemLotId } from './lots.ts';

/** Money that arrived without a payment, or that its payment did not need. The table is called `strays`. */
export interface UnexpectedMoney {
  readonly id: string;
  readonly network: string;
  /**
   * The transaction that brought the money. Null for coin that a contract call has sent: neither its transaction nor its sender is known.
   */
  readonly transactionHash: string | null;
  readonly logIndex: number;
  readonly blockNumber: number;
  /** `transfer`: a plain transfer. `late_payment`: an item that paid after its payment had ended. */
  readonly source: 'transfer' | 'late_payment';
  readonly asset: string;
  readonly sender: string | null;
  /** The account of ours that received the money, or the merchant's account for a late payment that was not held. */
  readonly account: string;
  readonly amount: string;
  /** The fee of a late payment. */
  readonly fee: string;
  /** True for money of a payment if `account` is an account of ours, so that we hold the money for the merchant. */
  readonly isHeld: boolean;
  readonly paymentId: string | null;
  readonly merchantId: string | null;
  /** True if the money is on the intermediate account, mixed with money of other owners. */
  readonly isBooked: boolean;
  /** The state of the money. `requested`: a partner has named a recipient, and the return has not begun. */
  readonly state: 'unclaimed' | 'requested' | 'float' | 'returning' | 'returned';
  readonly seenAt: Date;
  /** The reason why the payment did not need the money. Null for money without a payment. */
  readonly reason: LateReason | null;
  /** The recipient that a partner has named for the return. Null if no partner requested a return. */
  readonly recipient: string | null;
  readonly requestedAt: Date | null;
  /** The end of the cooling-off period of the return that a partner requested. */
  readonly sendAfter: Date | null;
  /** The reason why the last return failed. Null if none has failed. */
  readonly problem: string | null;
  /** The MAC that proves that the gateway wrote the partner's request. Null without a request. */
  readonly mac: string | null;
  /** The lot of late money. Null for money without a payment, money that never came to our account, and rows of older versions. */
  readonly lotId: string | null;
}

export type NewUnexpectedMoney = Omit<
  UnexpectedMoney,
  'state' | 'seenAt' | 'reason' | keyof ReturnRequest | 'requestedAt' | 'problem' | 'lotId'
> & {
  readonly state: 'unclaimed' | 'float';
  readonly reason?: LateReason;
  readonly lotId?: string;
};

/** A partner's request to return unexpected money. */
export interface ReturnRequest {
  readonly recipient: string;
  readonly sendAfter: Date;
  readonly mac: string;
}

/** Stores new rows and returns their ids. A row whose chain log is already stored is left out. */
export async function insertUnexpected(
  tx: Tx,
  unexpectedMoney: readonly NewUnexpectedMoney[],
  at: Date,
): Promise<string[]> {
  const inserted = await tx<{ id: string }[]>`
    insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, sender, account, amount,
      fee, is_held, payment_id, merchant_id, is_booked, state, reason, lot_id, seen_at, updated_at)
    select s.id, s.network, s."transactionHash", s."logIndex", s."blockNumber", s.source, s.asset, s.sender, s.account,
      s.amount, s.fee, s."isHeld", s."paymentId", s."merchantId", s."isBooked", s.state,
      s.reason, s."lotId", ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(unexpectedMoney as never)}) as s(
      id text, network text, "transactionHash" text, "logIndex" int, "blockNumber" bigint, source text, asset text,
      sender text, account text, amount numeric, fee numeric, "isHeld" boolean, "paymentId" text, "merchantId" text,
      "isBooked" boolean, state text, reason text, "lotId" text)
    on conflict do nothing
    returning id`;
  return inserted.map(({ id }) => id);
}

/**
 * Updates the amount and the reason of late money from its lots, as long as nobody has requested its return. Deletes unclaimed rows whose
 * lot has left the chain or now counts for the payment.
 */
export async function updateLateMoney(
  tx: Tx,
  paymentId: string,
  lots: readonly Pick<Lot, 'id' | 'amount' | 'fee' | 'isHeld' | 'reason'>[],
): Promise<void> {
  const rows = lots.map(({ id, amount, fee, isHeld, reason }) => ({
    id,
    amount: amount.toString(),
    fee: fee.toString(),
    isHeld,
    reason,
  }));
  await tx`
    delete from strays s where s.payment_id = ${paymentId} and s.lot_id is not null and s.state = 'unclaimed'
      and not exists (select from lots l where l.id = s.lot_id and l.reason is not null)`;
  await tx`
    update strays s set amount = l.amount, fee = l.fee, is_held = l."isHeld", reason = l.reason
    from jsonb_to_recordset(${tx.json(rows)}) as l(id text, amount numeric, fee numeric, "isHeld" boolean, reason text)
    where s.payment_id = ${paymentId} and s.lot_id = l.id and s.state = 'unclaimed'
      and (s.amount, s.fee, s.is_held, s.reason) is distinct from (l.amount, l.fee, l."isHeld", l.reason)`;
}

/** Lowers the amount and the fee to those that were returned, if the row shows more. Used only when a rebuild restores a return. */
export async function reduceUnexpected(
  tx: Tx,
  { id, amount, fee }: Pick<UnexpectedMoney, 'id' | 'amount' | 'fee'>,
): Promise<void> {
  await tx`
    update strays set amount = ${amount}, fee = ${fee}
    where id = ${id} and state in ('unclaimed', 'requested') and amount > ${amount}::numeric`;
}

/** The terms of an item that paid after the end of its payment. */
export interface LateItem {
  readonly network: string;
  readonly commitment: string;
  readonly subject: string;
  readonly asset: string;
  readonly payer: string;
  readonly recipient: string;
  readonly amount: string;
  readonly fee: string;
}

/** Deletes the late money of these items if its event has left the chain and nobody has claimed the money. */
export async function deleteLostLateMoney(tx: Tx, items: readonly LateItem[]): Promise<void> {
  await tx`
    delete from strays s using ${recordsOf(tx, items)} where ${isOfItem(tx)} and s.state = 'unclaimed' and ${isLost(tx)}`;
}

/**
 * Replaces the event of late money that somebody has claimed. The first event has left the chain, and the same item was mined in another
 * transaction. Returns false if there is no such money.
 */
export async function moveLateMoney(
  tx: Tx,
  item: LateItem,
  to: Pick<NewUnexpectedMoney, 'transactionHash' | 'logIndex' | 'blockNumber'>,
): Promise<boolean> {
  const { count } = await tx`
    update strays set transaction_hash = ${to.transactionHash}, log_index = ${to.logIndex}, block_number = ${to.blockNumber}
    where id = (
      select s.id from strays s, ${recordsOf(tx, [item])} where ${isOfItem(tx)} and ${isLost(tx)} order by s.id limit 1)`;
  return count === 1;
}

/** The SQL rows of these items, named `i`. */
function recordsOf(tx: Tx, items: readonly LateItem[]) {
  const rows = items.map(({ network, commitment, subject, asset, payer, recipient, amount, fee }) => ({
    ...{ network, subject, asset, payer, recipient, amount, fee },
    lot: itemLotId(network, commitment),
  }));
  return tx`jsonb_to_recordset(${tx.json(rows)}) as i(network text, lot text, subject text, asset text, payer text,
    recipient text, amount numeric, fee numeric)`;
}

/**
 * The SQL condition that the row `s` is the late money of the item `i`. A held item has a lot. A payer can have several items of a payment,
 * so for rows without a lot the amounts are compared, too.
 */
function isOfItem(tx: Tx) {
  return tx`s.payment_id = i.subject and s.network = i.network and s.asset = i.asset and s.sender = i.payer
    and s.account = i.recipient
    and (s.lot_id = i.lot or (s.lot_id is null and s.amount = i.amount and s.fee = i.fee))`;
}

/** The SQL condition that the row `s` is late money whose event is not stored any more. */
function isLost(tx: Tx) {
  return tx`s.source = 'late_payment' and s.transaction_hash is not null and not exists (
    select from chain_events e
    where e.network = s.network and e.transaction_hash = s.transaction_hash and e.log_index = s.log_index)`;
}

/** Sets the lot of late money that an older version stored. Returns false if its return has begun, because then floats pay the return. */
export async function linkUnexpected(tx: Tx, { id, lotId }: { id: string; lotId: string }): Promise<boolean> {
  const { count } = await tx`
    update strays set lot_id = ${lotId} where id = ${id} and state = 'unclaimed' and lot_id is null`;
  return count === 1;
}

/** Changes the state of unexpected money. Returns false if its state is not `from`. */
export async function moveUnexpected(
  tx: Tx,
  { id, from, to, at }: { id: string; from: UnexpectedMoney['state']; to: UnexpectedMoney['state']; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update strays set state = ${to}, updated_at = ${at} where id = ${id} and state = ${from}`;
  return count === 1;
}

/** Stores a partner's request to return the money to a recipient. Returns false if the money is already claimed. */
export async function putReturnRequest(tx: Tx, id: string, request: ReturnRequest, at: Date): Promise<boolean> {
  const { recipient, sendAfter, mac } = request;
  const { count } = await tx`
    update strays
    set state = 'requested', recipient = ${recipient}, requested_at = ${at}, send_after = ${sendAfter}, problem = null,
      mac = ${mac}, updated_at = ${at}
    where id = ${id} and state = 'unclaimed'`;
  return count === 1;
}

/** Makes the money unclaimed again and removes the partner's request. Returns false if its state is not `from`. */
export async function releaseUnexpected(
  tx: Tx,
  { id, from, problem, at }: { id: string; from: 'requested' | 'returning'; problem: string; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update strays
    set state = 'unclaimed', recipient = null, requested_at = null, send_after = null, mac = null, problem = ${problem},
      updated_at = ${at}
    where id = ${id} and state = ${from}`;
  return count === 1;
}

/**
 * Locks a page of the partners' requests that may still be signed: returns that are not final on chain, and returns that a deep reorg may
 * reopen.
 */
export function lockOpenRequests(
  tx: Tx,
  { after, limit, paidSince }: { readonly after: string; readonly limit: number; readonly paidSince: Date },
): Promise<UnexpectedMoney[]> {
  return tx<UnexpectedMoney[]>`
    select ${unexpectedColumns(tx)} from strays s
    where s.id > ${after} and s.recipient is not null and (s.state <> 'returned' or s.updated_at > ${paidSince})
    order by s.id limit ${limit} for update`;
}

export async function setRequestMacs(
  tx: Tx,
  macs: readonly { readonly id: string; readonly mac: string }[],
): Promise<void> {
  await tx`
    update strays s set mac = m.mac
    from jsonb_to_recordset(${tx.json(macs as never)}) as m(id text, mac text) where s.id = m.id`;
}

/** Sets the states of unexpected money from the transfers that return it, and returns the changed ids. */
export async function followOutgoing(tx: Tx, ids: readonly string[], at: Date): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    update strays s set state = case o.state when 'paid' then 'returned' else 'returning' end, updated_at = ${at}
    from outgoing o
    where s.id = any(${ids as string[]}::text[]) and o.id = s.id and o.state in ('paid', 'sending')
    returning s.id`;
  return rows.map(({ id }) => id);
}

export async function lockUnexpected(tx: Tx, id: string): Promise<UnexpectedMoney | undefined> {
  const [row] = await tx<
    UnexpectedMoney[]
  >`select ${unexpectedColumns(tx)} from strays s where s.id = ${id} for update`;
  return row;
}

export function findUnexpected(db: Reader, ids: readonly string[]): Promise<UnexpectedMoney[]> {
  return db<
    UnexpectedMoney[]
  >`select ${unexpectedColumns(db)} from strays s where s.id = any(${ids as string[]}::text[])`;
}

/** Unexpected money that these transactions on chain transferred to accounts of ours. */
export function listUnexpectedTransfers(
  db: Reader,
  network: string,
  transactionHashes: readonly string[],
): Promise<{ transactionHash: string; asset: string; amount: string }[]> {
  return db`
    select transaction_hash as "transactionHash", asset, amount::text as amount from strays
    where network = ${network} and transaction_hash = any(${transactionHashes as string[]}::text[]) and source = 'transfer'`;
}

/**
 * The number and the sum of an asset's unexpected transfers to an account that are neither returned nor made a float. Counts at most
 * `limit` transfers.
 */
export async function sumOpenTransfers(
  db: Reader,
  { account, asset, limit }: { readonly account: string; readonly asset: string; readonly limit: number },
): Promise<{ readonly count: number; readonly units: string }> {
  const [row] = await db<{ count: number; units: string }[]>`
    select count(*)::int as count, coalesce(sum(amount), 0)::text as units from (
      select amount from strays
      where account = ${account} and asset = ${asset} and source = 'transfer' and state in ('unclaimed', 'requested', 'returning')
      limit ${limit}) as counted`;
  return row ?? { count: 0, units: '0' };
}

/**
 * Deletes unexpected money whose transfer has left the chain. Returns false if somebody has claimed the money, or if there is no such row.
 */
export async function deleteUnclaimed(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx`delete from strays where id = ${id} and state = 'unclaimed'`;
  return count === 1;
}

/** Unexpected money in these states, the newest first. */
export function listUnexpected(
  db: Reader,
  { states, limit }: { states: readonly UnexpectedMoney['state'][]; limit: number },
): Promise<UnexpectedMoney[]> {
  return db<UnexpectedMoney[]>`
    select ${unexpectedColumns(db)} from strays s where s.state = any(${states as string[]}::text[])
    order by s.seen_at desc, s.id limit ${limit}`;
}

/** A lot whose return is requested or in progress. */
export interface ReturningLot extends Pick<UnexpectedMoney, 'id' | 'amount' | 'fee' | 'isHeld'> {
  readonly lotId: string;
  readonly state: 'requested' | 'returning';
}

export async function findReturning(db: Reader, paymentId: string): Promise<readonly ReturningLot[]> {
  return db<ReturningLot[]>`
    select id, lot_id as "lotId", state, amount::text as amount, fee::text as fee, is_held as "isHeld" from strays
    where payment_id = ${paymentId} and lot_id is not null and state in ('requested', 'returning')`;
}

/** Stores the fee that the sweep of a lot took after the return of the lot was requested. */
export async function setFeeOfRequested(
  tx: Tx,
  { id, fee, isHeld }: Pick<ReturningLot, 'id' | 'fee' | 'isHeld'>,
): Promise<void> {
  await tx`update strays set fee = ${fee}, is_held = ${isHeld} where id = ${id} and state = 'requested'`;
}

/** The range of a network's blocks that were searched for unexpected money. */
export interface UnexpectedCursor {
  /** The last block whose arrivals are part of the opening balances of the network. */
  readonly begunAt: number;
  readonly searchedTo: number;
}

export async function findUnexpectedCursor(db: Reader, network: string): Promise<UnexpectedCursor | undefined> {
  const [row] = await db<UnexpectedCursor[]>`
    select first_block::int as "begunAt", block_number::int as "searchedTo" from stray_cursors where network = ${network}`;
  return row;
}

/** Locks the cursor of a network, and returns the last block that was searched. */
export async function lockUnexpectedCursor(tx: Tx, network: string): Promise<number | undefined> {
  const [row] = await tx<{ searchedTo: number }[]>`
    select block_number::int as "searchedTo" from stray_cursors where network = ${network} for update`;
  return row?.searchedTo;
}

/** Stores the last block that was searched. The cursor never goes back, because two nodes may search the same blocks. */
export async function putUnexpectedCursor(tx: Tx, network: string, blockNumber: number): Promise<void> {
  await tx`
    insert into stray_cursors (network, first_block, block_number) values (${network}, ${blockNumber}, ${blockNumber})
    on conflict (network) do update set block_number = greatest(stray_cursors.block_number, excluded.block_number)`;
}

/** The columns of an `UnexpectedMoney`, for the alias `s`. */
export function unexpectedColumns(db: Reader) {
  return db`s.id, s.network, s.transaction_hash as "transactionHash", s.log_index as "logIndex",
    s.block_number::int as "blockNumber", s.source, s.asset, s.sender, s.account, s.amount, s.fee, s.is_held as "isHeld",
    s.payment_id as "paymentId", s.merchant_id as "merchantId", s.is_booked as "isBooked", s.state, s.seen_at as "seenAt",
    s.reason, s.recipient, s.requested_at as "requestedAt", s.send_after as "sendAfter", s.problem, s.mac,
    s.lot_id as "lotId"`;
}
