import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import { appendHappened } from '../events/events.ts';
import { isMerchantClosed } from '../parties/freezes.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import type { SingleStatement } from '../plumbing/single-statement.ts';
import type { PaymentDetails } from './payment-details.ts';

export interface NewPayment {
  readonly id: string;
  /** The encrypted form of the id (`domain/seal.ts`). */
  readonly sealedId: string | null;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly amountUnit: string;
  readonly amountValue: string;
  readonly amountDecimals: number;
  readonly expiresAtMs: number;
  readonly successUrl: string | null;
  readonly errorUrl: string | null;
  /** The token in which the payment is priced. Null for prices in a currency. */
  readonly tokenAsset: string | null;
  readonly details: PaymentDetails | null;
  /**
   * The hash of the merchant and the Idempotency-Key, as a UUID. `requestHash` is the hash of the request, also as a UUID. Both are null
   * without a key.
   */
  readonly claim: string | null;
  readonly requestHash: string | null;
  /** The creator of the payment: `key:<id>`, `person:<id>` or `link:<id>`. */
  readonly actor: string;
  readonly linkId?: string | undefined;
  readonly acceptedAssets?: AcceptedAssets | undefined;
}

/**
 * Inserts many payments in one statement, which is one database transaction and one flush to disk, and returns the ids of the created
 * payments. A payment is not created if its merchant accepts no payments, or if its Idempotency-Key was used before. Keys are inserted in a
 * fixed order, to prevent deadlocks between two batches.
 *
 * The id of a payment's first event is the payment's id with another prefix. It is unique, because a payment is created only once, and
 * random, because the payment's id is random.
 */
export function insertPayments(payments: readonly NewPayment[], now: Date): SingleStatement<Set<string>> {
  return {
    draft: (sql) => sql`
    with input as (
      select * from unnest(
        ${column(payments, (p) => p.id)}::text[],
        ${column(payments, (p) => p.sealedId)}::text[],
        ${column(payments, (p) => p.merchantId)}::text[],
        ${column(payments, (p) => p.referenceId)}::text[],
        ${column(payments, (p) => p.amountUnit)}::text[],
        ${column(payments, (p) => p.amountValue)}::text[],
        ${column(payments, (p) => String(p.amountDecimals))}::text[],
        ${column(payments, (p) => String(p.expiresAtMs))}::text[],
        ${column(payments, (p) => p.successUrl)}::text[],
        ${column(payments, (p) => p.errorUrl)}::text[],
        ${column(payments, (p) => p.tokenAsset)}::text[],
        ${column(payments, (p) => p.details && JSON.stringify(p.details))}::text[],
        ${column(payments, (p) => p.claim)}::text[],
        ${column(payments, (p) => p.requestHash)}::text[],
        ${column(payments, (p) => p.actor)}::text[],
        ${column(payments, (p) => p.linkId ?? null)}::text[],
        ${column(payments, (p) => p.acceptedAssets?.join(' ') ?? null)}::text[]
      ) as i(id, sealed_id, merchant_id, reference_id, amount_unit, amount_value, amount_decimals, expires_at_ms,
        success_url, error_url, token_asset, details, claim, request_hash, actor, link_id, accepted_assets)
    ), taken as (
      select i.*, m.partner_id, m.mode from input i
      join merchants m on m.id = i.merchant_id and m.status = 'active' and not ${isMerchantClosed(sql)}
    ), claimed as (
      insert into payment_keys (claim, request_hash, payment_id, created_at)
      select claim::uuid, request_hash::uuid, id, ${now} from taken where claim is not null order by claim
      on conflict do nothing
      returning payment_id
    ), wanted as (
      select * from taken t
      where t.claim is null or exists (select from claimed c where c.payment_id = t.id)
    ), made as (
      insert into payments
        (id, sealed_id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
         created_at, updated_at, expires_at, success_url, error_url, token_asset, token_value, details, link_id,
         accepted_assets)
      select id, sealed_id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value::numeric,
        amount_decimals::smallint, ${now}, ${now}, to_timestamp(expires_at_ms::bigint / 1000.0), success_url, error_url,
        token_asset, case when token_asset is not null then amount_value::numeric end, details::jsonb, link_id,
        string_to_array(accepted_assets, ' ')
      from wanted
      returning id, partner_id, mode, merchant_id, amount_unit, amount_decimals, amount_value, token_asset
    ), happened as (
      select partner_id, mode, merchant_id, 'evt_' || substr(id, 5) as id, 'payment.created' as type,
        id as object_id, 1 as sequence, ${now}::timestamptz as at, actor, null::jsonb as data, null::jsonb as evidence
      from wanted
    ), ${appendHappened(sql)}, counted as (
      insert into payment_stat_changes
        (partner_id, mode, merchant_id, day, status, token_asset, amount_unit, amount_decimals, payments, value)
      select partner_id, mode, merchant_id, ${dayOf(now)}::date, 'requires_action', coalesce(token_asset, ''),
        amount_unit, amount_decimals, count(*), sum(amount_value)
      from made group by partner_id, mode, merchant_id, token_asset, amount_unit, amount_decimals
    )
    select id from made`,
    read: (rows) => new Set(rows.map(({ id }) => String(id))),
    appendsEvents: true,
  };
}

export interface EarlierPayment {
  readonly claim: string;
  readonly requestHash: string;
  readonly paymentId: string;
}

/** The payments that were created before with the same merchant and Idempotency-Key (`claim`). */
export function findEarlierPayments(db: Reader, claims: readonly string[]): Promise<EarlierPayment[]> {
  return db<EarlierPayment[]>`
    select replace(claim::text, '-', '') as claim, replace(request_hash::text, '-', '') as "requestHash",
      payment_id as "paymentId"
    from payment_keys where claim = any(${claims as string[]}::text[]::uuid[])`;
}

/** Deletes at most `limit` Idempotency-Keys that were stored before `before`, and returns their number. */
export async function prunePaymentKeys(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from payment_keys where claim = any(array(
      select claim from payment_keys where created_at < ${before} limit ${limit} for update skip locked))`;
  return count;
}

/** The day (UTC) to which the totals assign a payment. */
function dayOf(createdAt: Date): string {
  return createdAt.toISOString().slice(0, 10);
}

function column<Row, Value>(rows: readonly Row[], value: (row: Row) => Value): Value[] {
  return rows.map(value);
}
