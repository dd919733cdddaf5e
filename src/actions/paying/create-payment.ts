import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import { shortHash } from '../../domain/idempotency.ts';
import { newId } from '../../domain/ids.ts';
import { type PaymentStatus, visibleStatus } from '../../domain/payment.ts';
import { encryptIds } from '../../domain/seal.ts';
import { ApiError } from '../../errors.ts';
import { type Batcher, createBatcher } from '../../runtime/batcher.ts';
import { findPayableMerchants, type Merchant } from '../../store/parties/merchants.ts';
import { findEarlierPayments, insertPayments, type NewPayment } from '../../store/payments/new-payments.ts';
import type { PaymentDetails } from '../../store/payments/payment-details.ts';
import { findPayments, type Payment, stateOf } from '../../store/payments/payments.ts';
import { databaseFault, isDataFault } from '../../store/plumbing/database.ts';
import { type CommandDeps, commandOfOne, otherRequest, stillRunning } from '../command.ts';
import { merchantNotFound } from '../parties/change-merchant.ts';
import type { RecordMemory } from '../records/remember-records.ts';
import type { SubjectKeyDeps } from '../subject-keys.ts';

/** A validated request for a payment. */
export interface PaymentOrder {
  readonly merchant: Pick<Merchant, 'id' | 'partnerId' | 'mode' | 'status' | 'deletedAt'>;
  readonly referenceId: string;
  readonly amountUnit: string;
  readonly amountValue: string;
  readonly amountDecimals: number;
  readonly tokenAsset: string | null;
  readonly expiresAtMs: number;
  readonly successUrl: string | null;
  readonly errorUrl: string | null;
  /** `key:<id>`, `person:<id>` or `link:<id>`. */
  readonly actor: string;
  /** The payment link that the payer opened. */
  readonly linkId?: string | undefined;
  /** The assets that the lists of the partner, the merchant and the request all accept. */
  readonly acceptedAssets: AcceptedAssets;
  readonly details: PaymentDetails | null;
  /** The Idempotency-Key, and every field that is part of the request's meaning. */
  readonly idempotency: { readonly key: string; readonly meaning: readonly unknown[] } | null;
}

export interface CreatedPayment {
  readonly id: string;
  /** The present status: a retry may come after the payment has ended. */
  readonly status: PaymentStatus;
  readonly expiresAtMs: number;
  readonly isReplayed: boolean;
}

/** The bounds of a batch and of concurrent batches, so that this process answers and reads other requests while PostgreSQL writes. */
const MAX_BATCH = 100;
const MAX_CONCURRENT = 2;
/** Random bytes in an id. */
const ID_BYTES = 10;

type CreateDeps = CommandDeps & SubjectKeyDeps & { readonly records: RecordMemory };
type Order = PaymentOrder & { readonly claim: string | null; readonly requestHash: string | null };
type Outcome = CreatedPayment | ApiError;

/**
 * Makes the function that creates payments. Concurrent requests share one SQL statement and one flush to disk, and are answered only
 * after the flush. A crash before the flush leaves nothing. After a later crash a retry with the same Idempotency-Key finds the payment.
 */
export function createPaymentCreator(deps: CreateDeps): (order: PaymentOrder) => Promise<CreatedPayment> {
  const create: Batcher<Order, Outcome> = createBatcher(deps.world, {
    run: (orders) => createPayments(deps, orders),
    maxItems: MAX_BATCH,
    maxConcurrent: MAX_CONCURRENT,
    isItemsFault: (error) => isDataFault(error) || databaseFault(error) === 'busy',
  });
  return async (order) => {
    if (order.tokenAsset !== null && !deps.records.isAdmitted(order.tokenAsset)) {
      const refused = await deps.records.admit([order.tokenAsset]);
      for (const reason of refused.values()) throw otherRecord(reason);
    }
    const outcome = await create({ ...order, ...claimOf(order) }).catch((error: unknown) => {
      // An insert waits only for the lock of another insert with the same Idempotency-Key.
      throw databaseFault(error) === 'busy' ? stillRunning() : error;
    });
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  };
}

/**
 * The payment of an earlier request with the same Idempotency-Key. A request that would be refused now, because its expiry has passed or
 * a fee was raised, may be the retry of an accepted request.
 */
export async function findCreated(
  deps: CommandDeps,
  order: Pick<PaymentOrder, 'merchant' | 'idempotency'>,
): Promise<CreatedPayment | undefined> {
  const { claim, requestHash } = claimOf(order);
  if (claim === null) return undefined;
  const [row] = await findEarlierPayments(deps.db.sql, [claim]);
  const [payment] = row === undefined ? [] : await findPayments(deps.db.sql, [row.paymentId]);
  if (row === undefined || payment === undefined) return undefined;
  if (row.requestHash !== requestHash) throw otherRequest();
  return replayOf(payment, deps.world.clock.nowMs());
}

/**
 * The hashes of the Idempotency-Key in its scope and of the request. The scope is the creation of payments for one merchant, which has
 * one partner and one mode.
 */
function claimOf({
  merchant,
  idempotency,
}: Pick<PaymentOrder, 'merchant' | 'idempotency'>): Pick<Order, 'claim' | 'requestHash'> {
  if (idempotency === null) return { claim: null, requestHash: null };
  const { key, meaning } = idempotency;
  return { claim: shortHash(`${merchant.id} ${key}`), requestHash: shortHash(JSON.stringify(meaning)) };
}

async function createPayments(deps: CreateDeps, orders: readonly Order[]): Promise<Outcome[]> {
  const first = firstOfEachKey(orders);
  let rows: readonly NewPayment[] = [];
  const made = await commandOfOne(deps, (now) => {
    // The id and `createdAt` use the same time, because lists by date read the time out of the id.
    const random = deps.world.random.bytes(ID_BYTES * orders.length);
    const ids = orders.map((_, index) =>
      newId('pay_', now.getTime(), random.subarray(index * ID_BYTES, (index + 1) * ID_BYTES)),
    );
    const sealed = encryptIds(deps.subjectKeys, ids);
    rows = orders.map((order, index) => newPayment(order, ids[index] ?? '', sealed[index] ?? ''));
    const firstRows = rows.filter((_row, index) => first.has(index));
    return insertPayments(firstRows, now);
  });
  deps.world.crashPoint?.('create.committed');
  const left = orders.flatMap((order, index) => (made.has(rows[index]?.id ?? '') ? [] : [order]));
  const explained = left.length === 0 ? new Map<Order, Outcome>() : await explain(deps, left);
  return orders.map((order, index): Outcome => {
    const { id = '' } = rows[index] ?? {};
    if (made.has(id)) return { id, status: 'requires_action', expiresAtMs: order.expiresAtMs, isReplayed: false };
    return explained.get(order) ?? merchantInactive();
  });
}

function newPayment(order: Order, id: string, sealedId: string): NewPayment {
  return {
    id,
    sealedId,
    merchantId: order.merchant.id,
    referenceId: order.referenceId,
    amountUnit: order.amountUnit,
    amountValue: order.amountValue,
    amountDecimals: order.amountDecimals,
    tokenAsset: order.tokenAsset,
    expiresAtMs: order.expiresAtMs,
    successUrl: order.successUrl,
    errorUrl: order.errorUrl,
    details: order.details,
    claim: order.claim,
    requestHash: order.requestHash,
    actor: order.actor,
    linkId: order.linkId,
    acceptedAssets: order.acceptedAssets,
  };
}

/**
 * The indexes of the orders to insert. One SQL statement cannot claim a key twice. Of equal keys in a batch only the first is inserted,
 * and the other orders find its payment.
 */
function firstOfEachKey(orders: readonly Order[]): Set<number> {
  const seen = new Set<string>();
  const first = new Set<number>();
  for (const [index, { claim }] of orders.entries()) {
    if (claim !== null && seen.has(claim)) continue;
    if (claim !== null) seen.add(claim);
    first.add(index);
  }
  return first;
}

/** The outcome of orders without a new payment: the key was used before, or the merchant is stopped. */
async function explain(deps: CommandDeps, orders: readonly Order[]): Promise<Map<Order, Outcome>> {
  const earlier = await findEarlierPayments(
    deps.db.sql,
    orders.flatMap(({ claim }) => claim ?? []),
  );
  const payments = await findPayments(
    deps.db.sql,
    earlier.map(({ paymentId }) => paymentId),
  );
  const byClaim = new Map(earlier.map((row, index) => [row.claim, { row, payment: payments[index] }]));
  const nowMs = deps.world.clock.nowMs();
  const outcomes = new Map<Order, Outcome>();
  for (const order of orders) {
    const { row, payment } = byClaim.get(order.claim ?? '') ?? {};
    if (row === undefined || payment === undefined) continue;
    outcomes.set(order, row.requestHash === order.requestHash ? replayOf(payment, nowMs) : otherRequest());
  }
  const refused = orders.filter((order) => !outcomes.has(order));
  for (const [order, refusal] of await refusals(deps, refused)) outcomes.set(order, refusal);
  return outcomes;
}

function replayOf(payment: Payment, nowMs: number): CreatedPayment {
  const state = stateOf(payment);
  return { id: payment.id, status: visibleStatus(state, nowMs), expiresAtMs: state.expiresAtMs, isReplayed: true };
}

/** The refusals of orders whose merchant was stopped after we read it. The merchant is read again to choose between 404 and 403. */
async function refusals({ db }: CommandDeps, orders: readonly Order[]): Promise<Map<Order, ApiError>> {
  if (orders.length === 0) return new Map();
  const ids = [...new Set(orders.map(({ merchant }) => merchant.id))];
  const merchants = await findPayableMerchants(db.sql, ids);
  const deleted = new Set(merchants.filter(({ deletedAt }) => deletedAt !== null).map(({ id }) => id));
  return new Map(
    orders.map((order) => {
      const { id } = order.merchant;
      return [order, deleted.has(id) ? merchantNotFound(id) : merchantInactive()];
    }),
  );
}

/** The error if nodes have different network files, because another node would count the amount in another way. */
function otherRecord(reason: string): ApiError {
  return new ApiError('internal_error', reason, { status: 503, retryAfterS: 5 });
}

function merchantInactive(): ApiError {
  return new ApiError('forbidden', 'The merchant is inactive, suspended or frozen and takes no new payments.');
}
