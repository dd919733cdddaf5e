import { MAX_REFUNDS } from '../../../domain/ids.ts';
import { leftOf, takesPart, VETOED } from '../../../domain/refund.ts';
import { findSignedSubjects } from '../../../store/chain/items.ts';
import { findRefundsOf, type Refund } from '../../../store/money/refunds.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Reader } from '../../../store/plumbing/database.ts';

/** The refundable part of a payment, in the unit of its price and in the asset that paid it. */
export interface Refundable {
  readonly asset: string;
  readonly price: bigint;
  readonly amount: bigint;
}

/** The refundable part of a payment. Null if the payment has not succeeded. */
export async function findRefundable(db: Reader, payment: Payment): Promise<Refundable | null> {
  return (await findRefundables(db, [payment])).get(payment.id) ?? null;
}

/** The refundable parts by payment id. Payments that have not succeeded are left out. */
export async function findRefundables(db: Reader, payments: readonly Payment[]): Promise<Map<string, Refundable>> {
  const refunds = await findRefundsOf(
    db,
    payments.map(({ id }) => id),
  );
  const found = new Map<string, Refundable>();
  for (const payment of payments) {
    const { id, status, tokenAsset, tokenValue, amountValue } = payment;
    if (status !== 'succeeded' || tokenAsset === null || tokenValue === null) continue;
    const own = refunds.filter(({ paymentId }) => paymentId === id);
    const isExhausted = (await findFreeNumber(db, own)) === undefined;
    const whole = { price: BigInt(amountValue), amount: BigInt(tokenValue), fee: 0n };
    const { price, amount } = isExhausted ? NOTHING : leftOf(whole, own.filter(takesPart).map(shareOf));
    found.set(id, { asset: tokenAsset, price, amount });
  }
  return found;
}

const NOTHING = { price: 0n, amount: 0n };

function shareOf({ price, amount }: Refund) {
  return { price: BigInt(price), amount: BigInt(amount), fee: 0n };
}

export interface FreeNumber {
  readonly number: number;
  /** The vetoed refund that gives up this number. */
  readonly vetoed?: Refund;
}

/**
 * The number of the payment's next refund: the first unused one, or else the number of a vetoed refund that was never signed. The id of a
 * refund is derived from its number, so a signed number must not be used again. After a rebuild a number may be unused again: the chain
 * does not show a refund that was lost before it was signed.
 */
export async function findFreeNumber(db: Reader, refunds: readonly Refund[]): Promise<FreeNumber | undefined> {
  const taken = new Set(refunds.map(({ number }) => number));
  for (let number = 1; number <= MAX_REFUNDS; number += 1) if (!taken.has(number)) return { number };
  const vetoed = refunds.filter(({ state, problem }) => state === 'failed' && problem === VETOED);
  const signed = await findSignedSubjects(
    db,
    vetoed.map(({ id }) => id),
  );
  const free = vetoed.find(({ id }) => !signed.has(id));
  return free && { number: free.number, vetoed: free };
}
