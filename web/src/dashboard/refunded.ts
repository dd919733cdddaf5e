import type { Payment, PaymentRefund } from './api-types.ts';

/** The sum of the refunds, in the smallest unit of the payment's price. */
export function sumOf(refunds: readonly Pick<PaymentRefund, 'priceAmount'>[]): bigint {
  return refunds.reduce((sum, { priceAmount }) => sum + BigInt(priceAmount.value), 0n);
}

/** The part of the price that can be refunded, as the gateway reports it. */
export function leftToRefund({ refundable }: Pick<Payment, 'refundable'>): bigint {
  return BigInt(refundable?.priceAmount.value ?? 0);
}

/**
 * The part of the price that the person may refund now. The limit is for all refunds of the payment together. It is undefined if the
 * person has none.
 */
export function mayRefund(payment: Pick<Payment, 'amount' | 'refundable'>, limit: bigint | undefined): bigint {
  const left = leftToRefund(payment);
  if (limit === undefined) return left;
  const room = limit - (BigInt(payment.amount.value) - left);
  if (room <= 0n) return 0n;
  return room < left ? room : left;
}

/** The request for a refund. It contains the amount that the person confirmed, because the refundable amount may change meanwhile. */
export function refundRequest(
  { id: paymentId, amount: { unit } }: Pick<Payment, 'id' | 'amount'>,
  { units, reason }: { readonly units: bigint; readonly reason: string },
) {
  const note = reason.trim() === '' ? {} : { reason: reason.trim() };
  return { paymentId, amount: { unit, value: units.toString() }, ...note };
}
