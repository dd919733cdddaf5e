import type { Mode } from '../../domain/mode.ts';
import type { Buyer, FailureCode, PaymentState, PaymentStatus, TokenAmount } from '../../domain/payment.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface Payment {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly amountUnit: string;
  /** Minor units, as a decimal integer. */
  readonly amountValue: string;
  readonly amountDecimals: number;
  readonly status: PaymentStatus;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly successUrl: string | null;
  readonly errorUrl: string | null;
  readonly failureCode: FailureCode | null;
  readonly nativeDeadline: Date | null;
  readonly tokenAsset: string | null;
  readonly tokenValue: string | null;
  readonly buyerAccount: string | null;
  readonly buyerName: string | null;
  readonly buyerIcon: string | null;
  readonly transactionHash: string | null;
  readonly transactionNonce: string | null;
}

/** The part of a payment that its status answer shows; it is read more than anything else. */
export type PaymentGlance = Pick<
  Payment,
  | 'id'
  | 'mode'
  | 'merchantId'
  | 'status'
  | 'expiresAt'
  | 'nativeDeadline'
  | 'failureCode'
  | 'tokenAsset'
  | 'tokenValue'
  | 'transactionHash'
>;

/** What the rules of a payment's life look at. */
export function stateOf({
  status,
  expiresAt,
  nativeDeadline,
}: Pick<Payment, 'status' | 'expiresAt' | 'nativeDeadline'>): PaymentState {
  return { status, expiresAtMs: expiresAt.getTime(), nativeDeadlineMs: nativeDeadline?.getTime() ?? null };
}

/** In the order asked for; undefined where there is none. */
export async function findPayments(db: Reader, ids: readonly string[]): Promise<(Payment | undefined)[]> {
  const rows = await db<
    Payment[]
  >`select ${paymentColumns(db)} from payments where id = any(${ids as string[]}::text[])`;
  return inOrder(rows, ids);
}

/** In the order asked for; undefined where there is none. */
export async function glanceAtPayments(db: Reader, ids: readonly string[]): Promise<(PaymentGlance | undefined)[]> {
  const rows = await db<PaymentGlance[]>`
    select id, mode, merchant_id as "merchantId", status, expires_at as "expiresAt",
      native_deadline as "nativeDeadline", failure_code as "failureCode", token_asset as "tokenAsset",
      token_value as "tokenValue", transaction_hash as "transactionHash"
    from payments where id = any(${ids as string[]}::text[])`;
  return inOrder(rows, ids);
}

function inOrder<Row extends { readonly id: string }>(
  rows: readonly Row[],
  ids: readonly string[],
): (Row | undefined)[] {
  if (ids.length === 1) return [rows[0]];
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Locks the rows in one order, so that two transactions never wait for each other. */
export function lockPayments(tx: Tx, ids: readonly string[]): Promise<Payment[]> {
  return tx<Payment[]>`
    select ${paymentColumns(tx)} from payments where id = any(${ids as string[]}::text[]) order by id for update`;
}

/** One move of one payment, decided on the status and version it was read with. */
export interface Move {
  readonly payment: Payment;
  readonly to: PaymentStatus;
  readonly at: Date;
  readonly event: string;
  readonly actor: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  /** What the move makes known; what it does not name stays. */
  readonly facts: {
    readonly failureCode?: FailureCode | null;
    readonly buyer?: Buyer;
    readonly token?: TokenAmount;
    readonly transaction?: { readonly hash: string; readonly nonce: number | null };
  };
}

/** Carries the moves out and returns the ids that moved: one that is missing was moved by somebody else meanwhile. */
export async function movePayments(tx: Tx, moves: readonly Move[]): Promise<string[]> {
  const rows = moves.map(({ payment, to, at, event, actor, evidence, facts }) => ({
    id: payment.id,
    from_status: payment.status,
    from_version: payment.version,
    to_status: to,
    at,
    event,
    actor,
    evidence,
    failure_code: facts.failureCode ?? null,
    token_asset: facts.token?.asset ?? payment.tokenAsset,
    token_value: facts.token?.value.toString() ?? payment.tokenValue,
    buyer_account: facts.buyer?.account ?? payment.buyerAccount,
    buyer_name: facts.buyer?.name ?? payment.buyerName,
    buyer_icon: facts.buyer?.icon ?? payment.buyerIcon,
    transaction_hash: facts.transaction?.hash ?? payment.transactionHash,
    transaction_nonce: facts.transaction?.nonce ?? payment.transactionNonce,
  }));
  const moved = await tx<{ id: string }[]>`
    with input as (
      select * from jsonb_to_recordset(${tx.json(rows as never)}) as i(
        id text, from_status text, from_version int, to_status text, at timestamptz, event text, actor text,
        evidence jsonb, failure_code text, token_asset text, token_value numeric, buyer_account text,
        buyer_name text, buyer_icon text, transaction_hash text, transaction_nonce bigint)
    ), moved as (
      update payments p
      set status = i.to_status, version = p.version + 1, updated_at = i.at, failure_code = i.failure_code,
          token_asset = i.token_asset, token_value = i.token_value, buyer_account = i.buyer_account,
          buyer_name = i.buyer_name, buyer_icon = i.buyer_icon, transaction_hash = i.transaction_hash,
          transaction_nonce = i.transaction_nonce
      from input i
      where p.id = i.id and p.status = i.from_status and p.version = i.from_version
      returning p.*, i.from_status, i.to_status, i.at, i.event, i.actor, i.evidence
    ), logged as (
      insert into payment_events (payment_id, version, at, from_status, to_status, event, actor, evidence)
      select id, version, at, from_status, to_status, event, actor, evidence from moved
    ), counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, status, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, s.status, amount_unit, amount_decimals,
        sum(s.sign), sum(s.sign * amount_value)
      from moved, lateral (values (from_status, -1), (to_status, 1)) as s(status, sign)
      group by partner_id, mode, merchant_id, s.status, amount_unit, amount_decimals
    ), customers as (
      insert into payment_customers (partner_id, mode, merchant_id, buyer_account, status, payments)
      select partner_id, mode, merchant_id, buyer_account, s.status, sum(s.sign)
      from moved, lateral (values (from_status, -1), (to_status, 1)) as s(status, sign)
      where buyer_account is not null and not (event = 'confirmed' and s.sign = -1)
      group by partner_id, mode, merchant_id, buyer_account, s.status
      order by partner_id, mode, merchant_id, buyer_account, s.status
      on conflict (partner_id, mode, merchant_id, buyer_account, status)
        do update set payments = payment_customers.payments + excluded.payments
    )
    select id from moved`;
  return moved.map(({ id }) => id);
}

export interface PaymentNote {
  readonly event: string;
  readonly actor: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly at: Date;
  /** The transaction that carried the payments out, where it is another one from now on. */
  readonly transaction?: { readonly hash: string; readonly nonce: number | null };
}

/** Something that happened to payments without moving them: told in their log, under a version of its own. */
export async function notePayments(tx: Tx, ids: readonly string[], note: PaymentNote): Promise<void> {
  const { transaction } = note;
  const carried = transaction && tx`, transaction_hash = ${transaction.hash}, transaction_nonce = ${transaction.nonce}`;
  await tx`
    with noted as (
      update payments set version = version + 1 ${carried ?? tx``} where id = any(${ids as string[]}::text[])
      returning id, version, status
    )
    insert into payment_events (payment_id, version, at, from_status, to_status, event, actor, evidence)
    select id, version, ${note.at}, status, status, ${note.event}, ${note.actor}, ${tx.json(note.evidence as never)}
    from noted`;
}

/**
 * Expires at most `limit` payments whose time is over and returns their ids. One statement, so that a sweep costs the
 * same for one payment and for hundreds; rows that another node is sweeping are left to it.
 */
export async function expireDue(tx: Tx, { now, limit }: { now: Date; limit: number }): Promise<string[]> {
  const moved = await tx<{ id: string }[]>`
    with due as (
      select id from payments
      where status = 'requires_action' and native_deadline is null and expires_at <= ${now}
      order by expires_at limit ${limit}
      for update skip locked
    ), moved as (
      update payments p
      set status = 'expired', version = p.version + 1, updated_at = p.expires_at
      from due where p.id = due.id and p.status = 'requires_action'
      returning p.*
    ), logged as (
      insert into payment_events (payment_id, version, at, from_status, to_status, event, actor, evidence)
      select id, version, ${now}, 'requires_action', 'expired', 'expired', 'sweeper', '{"proof":"clock"}' from moved
    ), counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, status, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, s.status, amount_unit, amount_decimals,
        sum(s.sign), sum(s.sign * amount_value)
      from moved, lateral (values ('requires_action', -1), ('expired', 1)) as s(status, sign)
      group by partner_id, mode, merchant_id, s.status, amount_unit, amount_decimals
    )
    select id from moved`;
  return moved.map(({ id }) => id);
}

export interface PaymentEventRow {
  readonly version: number;
  readonly at: Date;
  readonly fromStatus: PaymentStatus;
  readonly toStatus: PaymentStatus;
  readonly event: string;
  readonly actor: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

export function listPaymentEvents(db: Reader, paymentId: string): Promise<PaymentEventRow[]> {
  return db<PaymentEventRow[]>`
    select version, at, from_status as "fromStatus", to_status as "toStatus", event, actor, evidence
    from payment_events where payment_id = ${paymentId} order by version`;
}

/** The columns of a `Payment`, of the table or alias `payments`. */
export function paymentColumns(db: Reader) {
  return db`id, partner_id as "partnerId", mode, merchant_id as "merchantId", reference_id as "referenceId",
    amount_unit as "amountUnit", amount_value as "amountValue", amount_decimals as "amountDecimals", status, version,
    created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt", success_url as "successUrl",
    error_url as "errorUrl", failure_code as "failureCode", native_deadline as "nativeDeadline",
    token_asset as "tokenAsset", token_value as "tokenValue", buyer_account as "buyerAccount",
    buyer_name as "buyerName", buyer_icon as "buyerIcon", transaction_hash as "transactionHash",
    transaction_nonce as "transactionNonce"`;
}
