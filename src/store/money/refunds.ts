import type { PayMethod } from '../../domain/item.ts';
import type { RefundState } from '../../domain/refund.ts';
import { isRefundStopped } from '../parties/freezes.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A payment that is given back, or is to be. Amounts are decimal integers, in the smallest unit of the paid asset. */
export interface Refund {
  readonly id: string;
  readonly paymentId: string;
  readonly merchantId: string;
  readonly network: string;
  readonly asset: string;
  readonly method: PayMethod;
  /** The account that paid. */
  readonly recipient: string;
  readonly amount: string;
  readonly state: RefundState;
  readonly version: number;
  readonly fromHeld: string;
  readonly fromMerchant: string;
  readonly fromOperator: string;
  /** The account that holds the money. */
  readonly account: string;
  /** True if an operator has requested or approved it: it is sent although its merchant is suspended or frozen. */
  readonly isOperators: boolean;
  readonly transactionHash: string | null;
  readonly problem: string | null;
  readonly requestedAt: Date;
  readonly updatedAt: Date;
}

export type NewRefund = Omit<Refund, 'state' | 'version' | 'transactionHash' | 'problem' | 'requestedAt' | 'updatedAt'>;

/** False when the payment was refunded before, or is being. */
export async function insertRefund(tx: Tx, refund: NewRefund, at: Date): Promise<boolean> {
  const { count } = await tx`
    insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, state, from_held,
      from_merchant, from_operator, account, is_operators, requested_at, updated_at)
    values (${refund.id}, ${refund.paymentId}, ${refund.merchantId}, ${refund.network}, ${refund.asset},
      ${refund.method}, ${refund.recipient}, ${refund.amount}, 'requested', ${refund.fromHeld},
      ${refund.fromMerchant}, ${refund.fromOperator}, ${refund.account}, ${refund.isOperators}, ${at}, ${at})
    on conflict do nothing`;
  return count === 1;
}

/** One move of a refund, decided on the state and version it was read with. */
export interface RefundMove {
  readonly refund: Refund;
  readonly to: RefundState;
  readonly transactionHash: string | null;
  readonly problem: string | null;
}

/**
 * Moves a refund. The refunded amount is subtracted from the merchant's revenue. Returns false if another transaction
 * moved it first.
 */
export async function updateRefund(tx: Tx, { refund, to, ...move }: RefundMove, at: Date): Promise<boolean> {
  const { count } = await tx`
    with moved as (
      update refunds
      set state = ${to}, version = version + 1, transaction_hash = ${move.transactionHash}, problem = ${move.problem},
        updated_at = ${at}
      where id = ${refund.id} and state = ${refund.state} and version = ${refund.version}
      returning payment_id
    ), counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
      select p.partner_id, p.mode, p.merchant_id, (p.created_at at time zone 'UTC')::date, 'succeeded',
        coalesce(p.token_asset, ''), p.amount_unit, p.amount_decimals, 0, ${revenueSign(refund.state, to)}::int * p.amount_value
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

/** Lets the refund be sent although its merchant is suspended or frozen. */
export async function setOperatorsRefund(tx: Tx, id: string): Promise<void> {
  await tx`update refunds set is_operators = true where id = ${id}`;
}

/** Undefined when there is none, another transaction has locked it, or a freeze stops it. */
export async function lockFreeRefund(tx: Tx, id: string): Promise<Refund | undefined> {
  const [row] = await tx<Refund[]>`
    select ${refundColumns(tx)} from refunds r
    where r.id = ${id} and not ${isRefundStopped(tx)} for update skip locked`;
  return row;
}

export async function lockRefund(tx: Tx, id: string): Promise<Refund | undefined> {
  const [row] = await tx<Refund[]>`select ${refundColumns(tx)} from refunds r where r.id = ${id} for update`;
  return row;
}

/** Refunds that are new, and those whose floats would cover them now; the oldest first. Freezes stop some of them. */
export async function findCoverable(
  db: Reader,
  { operator, limit }: { operator: string; limit: number },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select r.id from refunds r
    left join floats m on m.owner = r.merchant_id and m.asset = r.asset
    left join floats o on o.owner = ${operator} and o.asset = r.asset
    where (r.state = 'requested'
      or (r.state = 'awaiting_funds' and coalesce(m.units, 0) >= r.from_merchant
        and coalesce(o.units, 0) >= r.from_operator))
      and not ${isRefundStopped(db)}
    order by r.requested_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

export async function findRefund(db: Reader, id: string): Promise<Refund | undefined> {
  const [row] = await findRefunds(db, [id]);
  return row;
}

export function findRefunds(db: Reader, ids: readonly string[]): Promise<Refund[]> {
  return db<Refund[]>`select ${refundColumns(db)} from refunds r where r.id = any(${ids as string[]}::text[])`;
}

export async function findRefundOf(db: Reader, paymentId: string): Promise<Refund | undefined> {
  const [row] = await findRefundsOf(db, [paymentId]);
  return row;
}

export function findRefundsOf(db: Reader, paymentIds: readonly string[]): Promise<Refund[]> {
  return db<Refund[]>`
    select ${refundColumns(db)} from refunds r where r.payment_id = any(${paymentIds as string[]}::text[])`;
}

/** The newest first. */
export function listRefunds(
  db: Reader,
  { states, merchantId, limit }: { states: readonly RefundState[]; merchantId: string | undefined; limit: number },
): Promise<Refund[]> {
  return db<Refund[]>`
    select ${refundColumns(db)} from refunds r
    where r.state = any(${states as string[]}::text[])
      and ${merchantId === undefined ? db`true` : db`r.merchant_id = ${merchantId}`}
    order by r.requested_at desc, r.id desc limit ${limit}`;
}

/** The facts of a refund that change during its life, as its events record them. */
export function recordRefund({ id, state, transactionHash, problem, updatedAt }: Refund) {
  return { id, state, transactionHash, problem, updatedAt };
}

function refundColumns(db: Reader) {
  return db`r.id, r.payment_id as "paymentId", r.merchant_id as "merchantId", r.network, r.asset, r.method, r.recipient,
    r.amount, r.state, r.version, r.from_held as "fromHeld", r.from_merchant as "fromMerchant",
    r.from_operator as "fromOperator", r.account, r.is_operators as "isOperators", r.transaction_hash as "transactionHash", r.problem,
    r.requested_at as "requestedAt", r.updated_at as "updatedAt"`;
}
