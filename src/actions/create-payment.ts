import { type Batcher, createBatcher } from '../batcher.ts';
import { requestHash } from '../domain/idempotency.ts';
import { newId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import { ApiError } from '../errors.ts';
import { isDataFault } from '../store/database.ts';
import type { Merchant } from '../store/merchants.ts';
import { findEarlierPayments, insertPayments, type NewPayment } from '../store/new-payments.ts';
import { findPayments } from '../store/payments.ts';
import { merchantNotFound } from './change-merchant.ts';
import { type CommandDeps, commandOfOne } from './command.ts';

/** A payment as a client asked for it, checked. */
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
  /** With everything that gives the request its meaning. */
  readonly idempotency: { readonly key: string; readonly meaning: unknown } | null;
}

export interface CreatedPayment {
  readonly id: string;
  readonly expiresAtMs: number;
  readonly isReplayed: boolean;
}

const MAX_BATCH = 500;
/** While one batch is being flushed to disk the next is sent; more only makes them smaller. */
const MAX_CONCURRENT = 2;

type Order = PaymentOrder & { readonly requestHash: string | null };
type Outcome = CreatedPayment | ApiError;

/**
 * Creates payments; those asked for at the same time share one statement and one flush to disk. Each is answered only
 * after that. A crash before leaves no trace of it, a crash after leaves it whole: a retry with the same
 * Idempotency-Key finds it.
 */
export function createPaymentCreator(deps: CommandDeps): (order: PaymentOrder) => Promise<CreatedPayment> {
  const create: Batcher<Order, Outcome> = createBatcher(deps.world.timers, {
    run: (orders) => createPayments(deps, orders),
    maxItems: MAX_BATCH,
    maxConcurrent: MAX_CONCURRENT,
    isItemsFault: isDataFault,
  });
  return async (order) => {
    const hash = order.idempotency === null ? null : requestHash(order.idempotency.meaning);
    const outcome = await create({ ...order, requestHash: hash });
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  };
}

async function createPayments(deps: CommandDeps, orders: readonly Order[]): Promise<Outcome[]> {
  const rows = orders.map((order) => newPayment(deps, order));
  const first = firstOfEachKey(orders);
  const made = await commandOfOne(deps, (tx, now) =>
    insertPayments(
      tx,
      rows.filter((_row, index) => first.has(index)),
      now,
    ),
  );
  const left = orders.flatMap((order, index) => (made.has(rows[index]?.id ?? '') ? [] : [order]));
  const earlier = left.length === 0 ? new Map<Order, Outcome>() : await explain(deps, left);
  return orders.map((order, index): Outcome => {
    const { id = '' } = rows[index] ?? {};
    if (made.has(id)) return { id, expiresAtMs: order.expiresAtMs, isReplayed: false };
    return earlier.get(order) ?? stopped(order);
  });
}

function newPayment({ world }: CommandDeps, order: Order): NewPayment {
  return {
    id: newId('pay_', world.clock.nowMs(), world.random.bytes(10)),
    merchantId: order.merchant.id,
    referenceId: order.referenceId,
    amountUnit: order.amountUnit,
    amountValue: order.amountValue,
    amountDecimals: order.amountDecimals,
    tokenAsset: order.tokenAsset,
    expiresAtMs: order.expiresAtMs,
    successUrl: order.successUrl,
    errorUrl: order.errorUrl,
    idempotencyKey: order.idempotency?.key ?? null,
    requestHash: order.requestHash,
  };
}

/** One statement cannot claim a key twice: of equal keys in a batch the first is sent, the others find what it made. */
function firstOfEachKey(orders: readonly Order[]): Set<number> {
  const seen = new Set<string>();
  const first = new Set<number>();
  for (const [index, order] of orders.entries()) {
    if (order.idempotency !== null) {
      const claim = claimOf(order.merchant.id, order.idempotency.key);
      if (seen.has(claim)) continue;
      seen.add(claim);
    }
    first.add(index);
  }
  return first;
}

/** What became of orders that made no payment: their keys had been used, or their merchants have stopped. */
async function explain(deps: CommandDeps, orders: readonly Order[]): Promise<Map<Order, Outcome>> {
  const keyed = orders.filter((order) => order.idempotency !== null);
  const claims = keyed.map(({ merchant: { id, partnerId, mode }, idempotency }) => ({
    partnerId,
    mode: mode as Mode,
    merchantId: id,
    key: idempotency?.key ?? '',
  }));
  const earlier = await findEarlierPayments(deps.db.sql, claims);
  const payments = await findPayments(
    deps.db.sql,
    earlier.map(({ paymentId }) => paymentId),
  );
  const byClaim = new Map(
    earlier.map((row, index) => [claimOf(row.merchantId, row.key), { row, payment: payments[index] }]),
  );
  const outcomes = new Map<Order, Outcome>();
  for (const order of keyed) {
    const found = byClaim.get(claimOf(order.merchant.id, order.idempotency?.key ?? ''));
    if (found?.payment === undefined) continue;
    outcomes.set(
      order,
      found.row.requestHash === order.requestHash
        ? { id: found.payment.id, expiresAtMs: found.payment.expiresAt.getTime(), isReplayed: true }
        : new ApiError('idempotency_conflict', 'This Idempotency-Key was used with a different request.'),
    );
  }
  return outcomes;
}

/** The merchant stopped between the look at it and the insert. */
function stopped({ merchant }: Order): ApiError {
  return merchant.deletedAt === null ? merchantStopped() : merchantNotFound(merchant.id);
}

export function merchantStopped(): ApiError {
  return new ApiError('forbidden', 'The merchant is inactive or suspended and takes no new payments.');
}

function claimOf(merchantId: string, key: string): string {
  return `${merchantId} ${key}`;
}
