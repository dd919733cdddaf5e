import { type Amount, decimalText } from '../shared/money.ts';
import type { PaymentStatus, Refund } from './shapes.ts';

interface Refundable {
  readonly status: PaymentStatus;
  readonly amount: Amount;
  readonly refunds?: readonly Pick<Refund, 'priceAmount'>[];
}

/** A payment has at most this many refunds. */
const MAX_REFUNDS = 12;

/** The part of the price that no refund gives back, in minor units. Zero if nothing can be refunded. */
export function leftToRefund({ status, amount, refunds = [] }: Refundable): bigint {
  if (status !== 'succeeded' || refunds.length >= MAX_REFUNDS) return 0n;
  return BigInt(amount.value) - sumOf(refunds);
}

/** The parts of the price that the refunds give back together. */
export function sumOf(refunds: readonly Pick<Refund, 'priceAmount'>[]): bigint {
  return refunds.reduce((sum, { priceAmount }) => sum + BigInt(priceAmount.value), 0n);
}

/** Minor units of an amount as people write it, such as `3.5` or `3,50`. Undefined if it is none, or has too many decimals. */
export function minorUnits(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,30})(?:[.,](\d{1,36}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > decimals) return undefined;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** The text of a field with this amount. */
export function amountField(units: bigint, decimals: number): string {
  return decimalText(units.toString(), decimals);
}
