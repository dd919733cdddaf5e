import { OPERATOR_FLOAT } from '../../domain/books.ts';
import type { PayMethod } from '../../domain/item.ts';
import type { RefundHold, RefundState, WaitingRefund } from '../../domain/refund.ts';
import { isRefundStopped } from '../parties/freezes.ts';
import { isMerchantIn, type MerchantPlace } from '../parties/merchants.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/**
 * A refund of a payment, or of a part of it, in any state. Amounts are decimal integers in the smallest unit of the paid asset, unless the
 * field says otherwise.
 */
export interface Refund {
  readonly id: string;
  readonly paymentId: string;
  /** The number of the refund among the refunds of its payment, from 1 on. */
  readonly number: number;
  readonly merchantId: string;
  readonly network: string;
  readonly asset: string;
  readonly method: PayMethod;
  /** The account that receives the refund: the payer's, or another account that the partner has named. */
  readonly recipient: string;
  readonly amount: string;
  /** The refunded part of the price, in the unit of the price. */
  readonly price: string;
  /** The part of `amount` that the operator had earned as its fee. */
  readonly fee: string;
  readonly reason: string | null;
  readonly state: RefundState;
  readonly version: number;
  readonly fromHeld: string;
  readonly fromMerchant: string;
  readonly fromOperator: string;
  readonly account: string;
  /** The reason why the held money of the payment cannot be spent yet. Null if the refund waits for nothing, or only for funds. */
  readonly waitsFor: RefundHold | null;
  /** The end of the cooling-off period, which applies if the recipient is not the payer. Null if the refund needs no such period. */
  readonly sendAfter: Date | null;
  /**
   * True if an operator requested or approved the refund. Then it is sent even if the merchant is frozen or the cooling-off period is not
   * over.
   */
  readonly isOperators: boolean;
  readonly transactionHash: string | null;
  readonly problem: string | null;
  readonly requestedAt: Date;
  readonly updatedAt: Date;
  /** The MAC that proves that the gateway wrote the row. Null in a row of an older version, and in a row that the gateway did not write. */
  readonly mac: string | null;
}

export type NewRefund = Omit<Refund, 'state' | 'version' | 'transactionHash' | 'problem' | 'requestedAt' | 'updatedAt'>;

/** Inserts a requested refund. Returns false if the payment already has a refund with this number. */
export async function insertRefund(tx: Tx, refund: NewRefund, at: Date): Promise<boolean> {
  const { count } = await tx`
    insert into refunds (id, payment_id, number, merchant_id, network, asset, method, recipient, amount, price_value, fee,
      reason, state, from_held, from_merchant, from_operator, account, is_operators, send_after,
      waits_for, mac, requested_at, updated_at)
    values (${refund.id}, ${refund.paymentId}, ${refund.number}, ${refund.merchantId}, ${refund.network}, ${refund.asset},
      ${refund.method}, ${refund.recipient}, ${refund.amount}, ${refund.price}, ${refund.fee}, ${refund.reason},
      'requested', ${refund.fromHeld}, ${refund.fromMerchant}, ${refund.fromOperator}, ${refund.account},
      ${refund.isOperators}, ${refund.sendAfter}, ${refund.waitsFor}, ${refund.mac}, ${at}, ${at})
    on conflict do nothing`;
  return count === 1;
}

/**
 * Replaces a vetoed refund by a new refund with the same number. The events keep the terms of the vetoed one. Returns false if the vetoed
 * refund has changed.
 */
export async function renewRefund(tx: Tx, vetoed: Refund, refund: NewRefund, at: Date): Promise<boolean> {
  await replanRefund(tx, vetoed.id, refund);
  const { count } = await tx`
    update refunds
    set state = 'requested', version = version + 1, problem = null, transaction_hash = null, reason = ${refund.reason},
      is_operators = ${refund.isOperators}, send_after = ${refund.sendAfter}, requested_at = ${at}, updated_at = ${at}
    where id = ${vetoed.id} and state = 'failed' and version = ${vetoed.version}`;
  return count === 1;
}

/** The terms of a refund that change when it is planned anew. */
export type RefundPlan = Pick<
  Refund,
  | 'recipient'
  | 'amount'
  | 'price'
  | 'fee'
  | 'fromHeld'
  | 'fromMerchant'
  | 'fromOperator'
  | 'account'
  | 'waitsFor'
  | 'mac'
>;

/** Replaces the terms of a refund. The caller has locked the refund, and no signature exists for it. */
export async function replanRefund(tx: Tx, id: string, plan: RefundPlan): Promise<void> {
  await tx`
    update refunds
    set recipient = ${plan.recipient}, amount = ${plan.amount}, price_value = ${plan.price}, fee = ${plan.fee},
      from_held = ${plan.fromHeld}, from_merchant = ${plan.fromMerchant}, from_operator = ${plan.fromOperator},
      account = ${plan.account}, waits_for = ${plan.waitsFor}, look_at = null, mac = ${plan.mac}
    where id = ${id}`;
}

/**
 * Postpones a refund that the available money does not cover yet. The refund is checked again at `checkAt`, or when the money of the
 * payment changes.
 */
export async function postponeRefund(
  tx: Tx,
  { id, waitsFor, checkAt }: { readonly id: string; readonly waitsFor: RefundHold | null; readonly checkAt: Date },
): Promise<void> {
  await tx`update refunds set waits_for = ${waitsFor}, look_at = ${checkAt} where id = ${id}`;
}

/** Lets the waiting refunds of a payment be checked again at once. Called when money of the payment has arrived, was moved, or has left. */
export async function wakeRefunds(tx: Tx, paymentId: string): Promise<void> {
  await tx`
    update refunds set look_at = null
    where payment_id = ${paymentId} and look_at is not null and state in ('requested', 'awaiting_funds')`;
}

/** A change of a refund's state, decided from the state and version that were read. */
export interface RefundMove {
  readonly refund: Refund;
  readonly to: RefundState;
  readonly transactionHash: string | null;
  readonly problem: string | null;
}

/**
 * Changes the state of a refund, and counts its price in the statistics: a refunded price lowers the revenue. Returns false if another
 * database transaction has changed the refund first.
 */
export async function updateRefund(tx: Tx, { refund, to, ...move }: RefundMove, at: Date): Promise<boolean> {
  const { count } = await tx`
    with moved as (
      update refunds
      set state = ${to}, version = version + 1, transaction_hash = ${move.transactionHash}, problem = ${move.problem},
        updated_at = ${at}
      where id = ${refund.id} and state = ${refund.state} and version = ${refund.version}
      returning payment_id, price_value
    ), counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
      select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date, 'succeeded',
        coalesce(p.token_asset, ''), p.amount_unit, p.amount_decimals, 0,
        ${revenueSign(refund.state, to)}::int * coalesce(moved.price_value, p.amount_value)
      from moved join payments p on p.id = moved.payment_id
      where ${revenueSign(refund.state, to)}::int <> 0
    )
    select from moved`;
  return count === 1;
}

function revenueSign(from: RefundState, to: RefundState): -1 | 0 | 1 {
  if ((from === 'refunded') === (to === 'refunded')) return 0;
  return to === 'refunded' ? -1 : 1;
}

/** Changes which parts of a refund the merchant's and the operator's float pay. Does nothing once the floats have paid. */
export async function setCover(
  tx: Tx,
  { id, fromMerchant, fromOperator }: Pick<Refund, 'id' | 'fromMerchant' | 'fromOperator'>,
): Promise<void> {
  await tx`
    update refunds set from_merchant = ${fromMerchant}, from_operator = ${fromOperator}, fee = coalesce(fee, from_operator)
    where id = ${id} and state in ('requested', 'awaiting_funds')`;
}

/** Locks a page of the refunds that may still be signed: refunds that are not final on chain, and refunds that a deep reorg may reopen. */
export async function lockOpenRefunds(
  tx: Tx,
  { after, limit, paidSince }: { readonly after: string; readonly limit: number; readonly paidSince: Date },
): Promise<Refund[]> {
  const locked = await tx<{ id: string }[]>`
    select id from refunds where id > ${after} and (state <> 'refunded' or updated_at > ${paidSince})
    order by id limit ${limit} for update`;
  return tx<Refund[]>`
    select ${refundColumns(tx)} from refunds r where r.id = any(${locked.map(({ id }) => id)}::text[]) order by r.id`;
}

export async function setRefundMacs(
  tx: Tx,
  macs: readonly { readonly id: string; readonly mac: string }[],
): Promise<void> {
  await tx`
    update refunds r set mac = m.mac
    from jsonb_to_recordset(${tx.json(macs as never)}) as m(id text, mac text) where r.id = m.id`;
}

/**
 * Records that an operator approves a refund. It is then sent even if its merchant is suspended or frozen, or its cooling-off period is not
 * over.
 */
export async function setOperatorsRefund(tx: Tx, id: string): Promise<void> {
  await tx`update refunds set is_operators = true where id = ${id}`;
}

/**
 * Locks a refund that may be sent. Undefined if it does not exist, is locked by another database transaction, frozen, or in its cooling-off
 * period.
 */
export async function lockFreeRefund(tx: Tx, { id, now }: { id: string; now: Date }): Promise<Refund | undefined> {
  const locked = await tx`select from refunds where id = ${id} for update skip locked`;
  if (locked.length === 0) return undefined;
  const [row] = await tx<Refund[]>`
    select ${refundColumns(tx)} from refunds r
    where r.id = ${id} and not ${isRefundStopped(tx)} and not (${isCooling(tx, now)})`;
  return row;
}

export async function lockRefund(tx: Tx, id: string): Promise<Refund | undefined> {
  await tx`select from refunds where id = ${id} for update`;
  const [row] = await tx<Refund[]>`select ${refundColumns(tx)} from refunds r where r.id = ${id}`;
  return row;
}

/**
 * The ids of refunds to check: new refunds, refunds that floats or lots would cover now, and refunds whose next check is due. The refund
 * that has waited longest for a check comes first. Refunds that are frozen, cooling off, or offered to the merchant's account for signing
 * are left out.
 */
export async function findCoverable(db: Reader, { limit, now }: { limit: number; now: Date }): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select r.id from refunds r
    left join floats m on m.owner = r.merchant_id and m.asset = r.asset
    left join floats o on o.owner = ${OPERATOR_FLOAT} and o.asset = r.asset
    where r.state in ('requested', 'awaiting_funds')
      and (r.waits_for is null and (r.state = 'requested'
          or coalesce(m.units, 0) >= r.from_merchant and coalesce(o.units, 0) >= r.from_operator)
        or (r.look_at is null or r.look_at <= ${now}) and (r.waits_for is not null
          or r.from_merchant > 0 and exists (
            select from lots l where l.payment_id = r.payment_id and l.asset = r.asset and l.is_open)))
      and not exists (select from outgoing g where g.id = r.id)
      and not ${isRefundStopped(db)} and not (${isCooling(db, now)})
    order by coalesce(r.look_at, r.requested_at) limit ${limit}`;
  return rows.map(({ id }) => id);
}

export async function findRefund(db: Reader, id: string): Promise<Refund | undefined> {
  const [row] = await db<Refund[]>`select ${refundColumns(db)} from refunds r where r.id = ${id}`;
  return row;
}

/** The refunds of these payments, in the order of their numbers. */
export function findRefundsOf(db: Reader, paymentIds: readonly string[]): Promise<Refund[]> {
  return db<Refund[]>`
    select ${refundColumns(db)} from refunds r where r.payment_id = any(${paymentIds as string[]}::text[])
    order by r.payment_id, r.number`;
}

/** Locks the refunds of a payment, in the order of their numbers. The database transaction must have locked the payment before. */
export async function lockRefundsOf(tx: Tx, paymentId: string): Promise<Refund[]> {
  await tx`select from refunds where payment_id = ${paymentId} order by number for update`;
  return findRefundsOf(tx, [paymentId]);
}

/** A refund with the facts that it may wait for. */
export type ShownRefund = Refund & WaitingRefund;

/** The refunds of a payment, or the refund with an id. If `merchantId` is given, the refund must be that merchant's. */
export function findShownRefunds(
  db: Reader,
  wanted: ({ readonly paymentId: string } | { readonly id: string; readonly merchantId?: string }) & {
    readonly now: Date;
  },
): Promise<ShownRefund[]> {
  const isWanted =
    'paymentId' in wanted
      ? db`r.payment_id = ${wanted.paymentId}`
      : db`r.id = ${wanted.id} and ${wanted.merchantId === undefined ? db`true` : db`r.merchant_id = ${wanted.merchantId}`}`;
  return db<
    ShownRefund[]
  >`select ${shownColumns(db, wanted.now)} from ${withWaits(db)} where ${isWanted} order by r.number`;
}

export interface RefundQuery {
  readonly states: readonly RefundState[];
  /** The merchants whose refunds are listed. Undefined for all merchants. */
  readonly of: MerchantPlace | undefined;
  readonly paymentId?: string | undefined;
  /** The last refund of the page before this one. Only refunds that are listed after it are returned. */
  readonly after?: { readonly requestedAt: Date; readonly id: string } | undefined;
  readonly limit: number;
  readonly now: Date;
}

/** Refunds, the newest first. An index gives the newest refunds of each merchant, and the newest of all of these are returned. */
export function listRefunds(db: Reader, query: RefundQuery): Promise<ShownRefund[]> {
  const { states, of, paymentId, after, limit, now } = query;
  const isWanted = db`r.state = any(${states as string[]}::text[])
    and ${paymentId === undefined ? db`true` : db`r.payment_id = ${paymentId}`}
    and ${after === undefined ? db`true` : db`(r.requested_at, r.id) < (${after.requestedAt}, ${after.id})`}`;
  const newestOf = (place: MerchantPlace) => db`r.id in (
    select newest.id from merchants w cross join lateral (
      select r.id, r.requested_at from refunds r where r.merchant_id = w.id and ${isWanted}
      order by r.requested_at desc, r.id desc limit ${limit}
    ) newest
    where ${isMerchantIn(db, place)} order by newest.requested_at desc, newest.id desc limit ${limit})`;
  return db<ShownRefund[]>`
    select ${shownColumns(db, now)} from ${withWaits(db)}
    where ${of === undefined ? isWanted : newestOf(of)}
    order by r.requested_at desc, r.id desc limit ${limit}`;
}

/**
 * The fields of a refund that its events record: fields that change during its life, or that differ between refunds with the same number.
 */
export function recordRefund(refund: Refund) {
  const { id, state, transactionHash, problem, recipient, amount, price, reason, requestedAt, updatedAt } = refund;
  return { id, state, transactionHash, problem, recipient, amount, price, reason, requestedAt, updatedAt };
}

/** The columns of a `Refund`. A refund that older code stored has no price of its own: it refunds the whole payment. */
function refundColumns(db: Reader) {
  return db`r.id, r.payment_id as "paymentId", r.number, r.merchant_id as "merchantId", r.network, r.asset, r.method,
    r.recipient, r.amount, coalesce(r.price_value, (select p.amount_value from payments p where p.id = r.payment_id)) as price,
    coalesce(r.fee, r.from_operator) as fee, r.reason, r.mac, r.state, r.version, r.from_held as "fromHeld", r.from_merchant as "fromMerchant",
    r.from_operator as "fromOperator", r.account, r.waits_for as "waitsFor", r.is_operators as "isOperators", r.send_after as "sendAfter", r.transaction_hash as "transactionHash", r.problem,
    r.requested_at as "requestedAt", r.updated_at as "updatedAt"`;
}

function withWaits(db: Reader) {
  return db`refunds r
    left join floats m on m.owner = r.merchant_id and m.asset = r.asset
    left join floats f on f.owner = ${OPERATOR_FLOAT} and f.asset = r.asset
    left join outgoing g on g.id = r.id
    left join payment_settlements s on s.payment_id = r.payment_id and s.asset = r.asset and r.from_held = 0`;
}

/** The SQL condition that the refund `r` is in its cooling-off period. */
function isCooling(db: Reader, now: Date) {
  return db`(r.send_after > ${now} and not r.is_operators) is true`;
}

function shownColumns(db: Reader, now: Date) {
  return db`${refundColumns(db)}, ${isRefundStopped(db)} as "isStopped", ${isCooling(db, now)} as "isCooling",
    coalesce(g.is_due or (g.signer = 'merchant' and r.state = 'sending'), false) as "isSigned",
    s.recipient as "merchantAccount",
    coalesce(g.signer = 'merchant' and g.state = 'sending' and r.state = 'awaiting_funds', false) as "isOffered",
    (greatest(r.from_merchant - coalesce(m.units, 0), 0) + greatest(r.from_operator - coalesce(f.units, 0), 0))::text as lack`;
}
