import { OPERATOR_FLOAT } from '../../domain/books.ts';
import { LATE_STATES, type LateState } from '../../domain/late-money.ts';
import { isReturnStopped } from '../parties/freezes.ts';
import { isMerchantIn, type MerchantPlace } from '../parties/merchants.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { owedOfLot } from './lots.ts';
import { type UnexpectedMoney, unexpectedColumns } from './unexpected-money.ts';

/** Late money: unexpected money of payments. Partners see it in lists, and request its return. */

/** Late money, with the facts that its return may wait for. */
export interface ShownLateMoney extends UnexpectedMoney {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly state: LateState;
  /** The recipient of the return. Null before the return begins. */
  readonly sentTo: string | null;
  readonly returnHash: string | null;
  readonly updatedAt: Date;
  readonly isStopped: boolean;
  readonly isSigned: boolean;
  readonly isCooling: boolean;
  /** The sum that the merchant's and the operator's float lack for the return, in the smallest unit. */
  readonly lack: string;
}

export interface LateMoneyQuery {
  readonly states: readonly LateState[];
  readonly of: MerchantPlace;
  readonly merchantId?: string | undefined;
  readonly paymentId?: string | undefined;
  /** The last row of the page before this one. Only money that is listed after it is returned. */
  readonly after?: { readonly seenAt: Date; readonly id: string } | undefined;
  readonly limit: number;
  readonly now: Date;
}

/** Late money, the newest first. An index gives the newest rows of each merchant, and the newest of all of these are returned. */
export function listLateMoney(db: Reader, query: LateMoneyQuery): Promise<ShownLateMoney[]> {
  const { states, of, merchantId, paymentId, after, limit, now } = query;
  const isWanted = db`s.payment_id is not null and s.state = any(${states as string[]}::text[])
    and ${paymentId === undefined ? db`true` : db`s.payment_id = ${paymentId}`}
    and ${after === undefined ? db`true` : db`(s.seen_at, s.id) < (${after.seenAt}, ${after.id})`}`;
  return db<ShownLateMoney[]>`
    select ${shownColumns(db, now)} from ${withWaits(db)}
    where s.id in (
      select newest.id from merchants w cross join lateral (
        select s.id, s.seen_at from strays s where s.merchant_id = w.id and ${isWanted}
        order by s.seen_at desc, s.id desc limit ${limit}
      ) newest
      where ${isMerchantIn(db, of)} and ${merchantId === undefined ? db`true` : db`w.id = ${merchantId}`}
      order by newest.seen_at desc, newest.id desc limit ${limit})
    order by s.seen_at desc, s.id desc limit ${limit}`;
}

/** The largest number of rows of late money that are shown for a payment. Only senders of dust cause more rows. */
const MAX_OF_PAYMENT = 100;

/** The late money of one payment, the oldest first. */
export function findLateMoneyOf(
  db: Reader,
  { paymentId, now }: { readonly paymentId: string; readonly now: Date },
): Promise<ShownLateMoney[]> {
  return db<ShownLateMoney[]>`
    select ${shownColumns(db, now)} from ${withWaits(db)}
    where s.payment_id = ${paymentId} and s.state = any(${LATE_STATES as unknown as string[]}::text[])
    order by s.seen_at, s.id limit ${MAX_OF_PAYMENT}`;
}

export async function findLateMoney(
  db: Reader,
  { id, merchantId, now }: { readonly id: string; readonly merchantId: string; readonly now: Date },
): Promise<ShownLateMoney | undefined> {
  const [row] = await db<ShownLateMoney[]>`
    select ${shownColumns(db, now)} from ${withWaits(db)}
    where s.id = ${id} and s.merchant_id = ${merchantId} and s.payment_id is not null`;
  return row;
}

/**
 * Requested returns that can be sent now: their cooling-off period is over, no freeze stops them, and lot and floats cover them. The return
 * that has waited longest comes first.
 */
export function findReturnable(
  db: Reader,
  { networks, limit, now }: { networks: readonly string[]; limit: number; now: Date },
) {
  return db<{ id: string; paymentId: string }[]>`
    select s.id, s.payment_id as "paymentId" from ${withWaits(db)}
    where s.state = 'requested' and s.payment_id is not null and s.network = any(${networks as string[]}::text[])
      and not ${isReturnStopped(db)} and not ${isCooling(db, now)} and ${lackOf(db)} = 0
      and (s.look_at is null or s.look_at <= ${now})
    order by coalesce(s.look_at, s.requested_at) limit ${limit}`;
}

export async function postponeReturn(
  tx: Tx,
  { id, checkAt }: { readonly id: string; readonly checkAt: Date },
): Promise<void> {
  await tx`update strays set look_at = ${checkAt} where id = ${id}`;
}

/**
 * Locks unexpected money that can be returned. Undefined if no return is requested, if another database transaction has locked it, or if it
 * is frozen or cooling off.
 */
export async function lockReturnable(
  tx: Tx,
  { id, now }: { id: string; now: Date },
): Promise<UnexpectedMoney | undefined> {
  const locked = await tx`select from strays where id = ${id} and state = 'requested' for update skip locked`;
  if (locked.length === 0) return undefined;
  const [row] = await tx<UnexpectedMoney[]>`
    select ${unexpectedColumns(tx)} from strays s
    where s.id = ${id} and s.state = 'requested' and not ${isReturnStopped(tx)} and not ${isCooling(tx, now)}`;
  return row;
}

/** The sum and the fees of late money in one asset, at the deposit addresses of a payment, that was returned or is being returned. */
export async function sumReturned(
  db: Reader,
  { paymentId, network, asset }: { paymentId: string; network: string; asset: string },
): Promise<{ readonly amount: bigint; readonly fee: bigint }> {
  const [row] = await db<{ amount: string; fee: string }[]>`
    select coalesce(sum(amount), 0)::text as amount, coalesce(sum(fee), 0)::text as fee from strays
    where payment_id = ${paymentId} and network = ${network} and asset = ${asset} and transaction_hash is null
      and state in ('returning', 'returned')`;
  return { amount: BigInt(row?.amount ?? '0'), fee: BigInt(row?.fee ?? '0') };
}

function withWaits(db: Reader) {
  return db`strays s
    left join floats m on m.owner = s.merchant_id and m.asset = s.asset
    left join floats f on f.owner = ${OPERATOR_FLOAT} and f.asset = s.asset
    left join lots l on l.id = s.lot_id and l.is_held
    left join lateral (
      select g.recipient as sent_to, g.transaction_hash as return_hash, g.is_due from outgoing g
      where g.id = s.id and s.state in ('returning', 'returned')) g on true`;
}

/**
 * The SQL sum that the floats lack for a return. The operator's float pays the fee. The merchant's float pays the rest, except for the part
 * that is still held.
 */
function lackOf(db: Reader) {
  return db`(greatest(s.amount - s.fee - ${heldOf(db)} - coalesce(m.units, 0), 0) + greatest(s.fee - coalesce(f.units, 0), 0))`;
}

/**
 * The SQL units of late money that are held and can pay its return, as `findReturnCover` computes them. Late money of older versions has no
 * lot. Money that waits for its sweep counts if it completes the return. The owed fee in it does not count, because no sweep brings it.
 */
function heldOf(db: Reader) {
  const left = db`l.net - (select coalesce(sum(x.units), 0) from lot_spends x where x.lot_id = l.id)`;
  const most = db`s.amount - s.fee`;
  return db`case when s.lot_id is null then case when s.is_held then ${most} else 0 end
    when ${left} + l.waiting - ${owedOfLot(db)} >= ${most} then ${most}
    else least(${most}, greatest(coalesce(${left}, 0), 0)) end`;
}

function isCooling(db: Reader, now: Date) {
  return db`(s.send_after > ${now}) is true`;
}

function shownColumns(db: Reader, now: Date) {
  return db`${unexpectedColumns(db)}, s.updated_at as "updatedAt", g.sent_to as "sentTo", g.return_hash as "returnHash",
    ${isReturnStopped(db)} as "isStopped", coalesce(g.is_due, false) as "isSigned", ${isCooling(db, now)} as "isCooling",
    ${lackOf(db)}::text as lack`;
}
