import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import type { EventType } from '../../domain/event.ts';
import type { Mode } from '../../domain/mode.ts';
import { lineOfEvent } from '../../domain/money-line.ts';
import type { PaymentState } from '../../domain/payment.ts';
import type { PaymentFacts } from '../../domain/payment-facts.ts';
import { appendHappened, type Facts, newEventId } from '../events/events.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface Payment extends PaymentFacts {
  readonly id: string;
  /** The encrypted form of the id, which the chain shows (`domain/seal.ts`). Null in rows of older versions. */
  readonly sealedId: string | null;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly amountUnit: string;
  /** The price in minor units, as a decimal integer. */
  readonly amountValue: string;
  readonly amountDecimals: number;
  /** The number of the payment's events after the first one. So the sequence of the last event is `version` + 1. */
  readonly version: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly successUrl: string | null;
  readonly errorUrl: string | null;
  /** The id of the payment link that created the payment. Null if no link did. */
  readonly linkId: string | null;
  /**
   * The assets in which the payment may be paid. Fixed when it is created: later changes of the partner's and the merchant's lists do not
   * affect it.
   */
  readonly acceptedAssets: AcceptedAssets;
}

/** The fields of a payment that the status answer shows. They are read more often than all other fields. */
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

export function stateOf({
  status,
  expiresAt,
  nativeDeadline,
}: Pick<Payment, 'status' | 'expiresAt' | 'nativeDeadline'>): PaymentState {
  return { status, expiresAtMs: expiresAt.getTime(), nativeDeadlineMs: nativeDeadline?.getTime() ?? null };
}

/** The payments with these ids, in the order of `ids`. Undefined for an id without a payment. */
export async function findPayments(db: Reader, ids: readonly string[]): Promise<(Payment | undefined)[]> {
  const rows = await db<
    Payment[]
  >`select ${paymentColumns(db)} from payments where id = any(${ids as string[]}::text[])`;
  return inOrder(rows, ids);
}

/** The status fields of the payments with these ids, in the order of `ids`. Undefined for an id without a payment. */
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

/** Locks payments, in the order of ids to prevent deadlocks. */
export function lockPayments(tx: Tx, ids: readonly string[]): Promise<Payment[]> {
  return tx<Payment[]>`
    select ${paymentColumns(tx)} from payments where id = any(${ids as string[]}::text[]) order by id for update`;
}

/**
 * Locks payments whose `expires_at` has passed and that have no `native_deadline`, so that their expiry alone can end them. The longest
 * overdue comes first. Payments that another database transaction has locked are skipped.
 */
export function lockOverdue(tx: Tx, { now, limit }: { now: Date; limit: number }): Promise<Payment[]> {
  return tx<Payment[]>`
    select ${paymentColumns(tx)} from payments
    where status = 'requires_action' and native_deadline is null and expires_at <= ${now}
    order by expires_at limit ${limit} for update skip locked`;
}

/** A change of a payment, decided from the status and version that were read. */
export interface Move {
  readonly payment: Payment;
  readonly facts: PaymentFacts;
  /** The types of the events that record the change, at least one. The first event describes the change itself. */
  readonly events: readonly EventType[];
  readonly at: Date;
  readonly actor: string;
  readonly data: Facts;
  readonly evidence: Facts;
}

/**
 * Applies changes to payments, appends their events and adjusts the totals. Returns the ids of the changed payments. If an id is
 * missing, another database transaction has changed that payment after it was read. Each payment may occur only once in `moves`.
 */
export async function movePayments(tx: Tx, moves: readonly Move[]): Promise<string[]> {
  tx.outbox.hasEvents = true;
  const rows = moves.map(({ payment, facts, events, ...move }) => ({
    id: payment.id,
    from_status: payment.status,
    from_version: payment.version,
    from_buyer: payment.buyerAccount,
    from_asset: payment.tokenAsset,
    to_status: facts.status,
    updated_at: facts.updatedAt,
    failure_code: facts.failureCode,
    native_deadline: facts.nativeDeadline,
    token_asset: facts.tokenAsset,
    token_value: facts.tokenValue,
    buyer_account: facts.buyerAccount,
    buyer_name: facts.buyerName,
    buyer_icon: facts.buyerIcon,
    transaction_hash: facts.transactionHash,
    transaction_nonce: facts.transactionNonce,
    event_count: events.length,
    events: events.map((type, index) => ({ id: newEventId(tx, move.at), type, place: index + 1 })),
    at: move.at,
    actor: move.actor,
    data: move.data,
    evidence: Object.keys(move.evidence).length === 0 ? null : move.evidence,
  }));
  const moved = await tx<{ id: string }[]>`
    with input as (
      select * from jsonb_to_recordset(${tx.json(rows as never)}) as i(
        id text, from_status text, from_version int, from_buyer text, from_asset text, to_status text,
        updated_at timestamptz, failure_code text, native_deadline timestamptz, token_asset text, token_value numeric, buyer_account text,
        buyer_name text, buyer_icon text, transaction_hash text, transaction_nonce bigint, event_count int,
        events jsonb, at timestamptz, actor text, data jsonb, evidence jsonb)
    ), moved as (
      update payments p
      set status = i.to_status, version = p.version + i.event_count, updated_at = i.updated_at,
          failure_code = i.failure_code, native_deadline = i.native_deadline, token_asset = i.token_asset,
          token_value = i.token_value, buyer_account = i.buyer_account, buyer_name = i.buyer_name,
          buyer_icon = i.buyer_icon, transaction_hash = i.transaction_hash, transaction_nonce = i.transaction_nonce
      from input i
      where p.id = i.id and p.status = i.from_status and p.version = i.from_version
      returning p.id, p.partner_id, p.mode, p.merchant_id, p.amount_unit, p.amount_decimals, p.amount_value,
        (p.created_at at time zone 'UTC')::date as day, p.buyer_account, coalesce(p.token_asset, '') as to_asset,
        i.from_status, i.to_status, i.from_version, i.from_buyer, coalesce(i.from_asset, '') as from_asset, i.events,
        i.at, i.actor, i.data, i.evidence
    ), happened as (
      select m.partner_id, m.mode, m.merchant_id, e.id, e.type, m.id as object_id,
        m.from_version + 1 + e.place as sequence, m.at, m.actor, m.data, m.evidence
      from moved m, jsonb_to_recordset(m.events) as e(id text, type text, place int)
    ), ${appendHappened(tx)}, counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, day, s.status, s.asset, amount_unit, amount_decimals,
        sum(s.sign), sum(s.sign * amount_value)
      from moved, lateral (values (from_status, from_asset, -1), (to_status, to_asset, 1)) as s(status, asset, sign)
      where (from_status, from_asset) <> (to_status, to_asset)
      group by partner_id, mode, merchant_id, day, s.status, s.asset, amount_unit, amount_decimals
    ), bought as (
      select partner_id, mode, merchant_id, day, s.buyer, s.status, s.asset, sum(s.sign) as payments
      from moved,
        lateral (values (from_buyer, from_status, from_asset, -1), (buyer_account, to_status, to_asset, 1))
          as s(buyer, status, asset, sign)
      where s.buyer is not null
      group by partner_id, mode, merchant_id, day, s.buyer, s.status, s.asset having sum(s.sign) <> 0
    ), day_customers as (
      insert into payment_day_customers
        (partner_id, mode, merchant_id, day, buyer_account, status, token_asset, payments)
      select partner_id, mode, merchant_id, day, buyer, status, asset, payments from bought
      order by partner_id, mode, merchant_id, day, buyer, status, asset
      on conflict (partner_id, mode, merchant_id, day, buyer_account, status, token_asset)
        do update set payments = payment_day_customers.payments + excluded.payments
      returning partner_id, mode, merchant_id, day, buyer_account, status, token_asset, payments
    ), customers as (
      -- A day that has no payments any more may have been the first or the last day. Both days are then unknown (null).
      insert into payment_customers
        (partner_id, mode, merchant_id, buyer_account, status, token_asset, payments, first_day, last_day)
      select b.partner_id, b.mode, b.merchant_id, b.buyer, b.status, b.asset, sum(b.payments),
        case when min(d.payments) > 0 then min(b.day) end, case when min(d.payments) > 0 then max(b.day) end
      from bought b join day_customers d
        on (d.partner_id, d.mode, d.merchant_id, d.day, d.buyer_account, d.status, d.token_asset)
          = (b.partner_id, b.mode, b.merchant_id, b.day, b.buyer, b.status, b.asset)
      group by b.partner_id, b.mode, b.merchant_id, b.buyer, b.status, b.asset
      order by b.partner_id, b.mode, b.merchant_id, b.buyer, b.status, b.asset
      on conflict (partner_id, mode, merchant_id, buyer_account, status, token_asset) do update
        set payments = payment_customers.payments + excluded.payments, day_changes = payment_customers.day_changes + 1,
          first_day = case when payment_customers.payments = 0 then excluded.first_day
            when payment_customers.first_day is not null and excluded.first_day is not null
              then least(payment_customers.first_day, excluded.first_day) end,
          last_day = case when payment_customers.payments = 0 then excluded.last_day
            when payment_customers.last_day is not null and excluded.last_day is not null
              then greatest(payment_customers.last_day, excluded.last_day) end
    )
    select id from moved`;
  const ids = new Set(moved.map(({ id }) => id));
  for (const { payment, events, ...move } of moves) {
    if (!ids.has(payment.id)) continue;
    const { id: objectId, merchantId } = payment;
    tx.outbox.money.push(...events.flatMap((type) => lineOfEvent({ ...move, type, objectId, merchantId })));
  }
  return [...ids];
}

/** The columns of a `Payment`, for the table or an alias `payments`. */
export function paymentColumns(db: Reader) {
  return db`id, sealed_id as "sealedId", partner_id as "partnerId", mode, merchant_id as "merchantId", reference_id as "referenceId",
    amount_unit as "amountUnit", amount_value as "amountValue", amount_decimals as "amountDecimals", status, version,
    created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt", success_url as "successUrl",
    error_url as "errorUrl", failure_code as "failureCode", native_deadline as "nativeDeadline",
    token_asset as "tokenAsset", token_value as "tokenValue", buyer_account as "buyerAccount",
    buyer_name as "buyerName", buyer_icon as "buyerIcon", transaction_hash as "transactionHash",
    transaction_nonce as "transactionNonce", link_id as "linkId", to_json(accepted_assets) as "acceptedAssets"`;
}
