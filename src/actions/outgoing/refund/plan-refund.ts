import { methodOf } from '../../../chains/assets.ts';
import { sweptFee } from '../../../domain/deposit.ts';
import { refundIdOf } from '../../../domain/ids.ts';
import { coverOf, leftOf, type Share, takesPart } from '../../../domain/refund.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import { lockHeld, takeForRefund } from '../../../store/money/payouts.ts';
import type { NewRefund, Refund } from '../../../store/money/refunds.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { refundMac } from './refund-rows.ts';

/** The whole payment, as its refunds divide it. A deposit address may be paid with a little less than it asked for. */
export function shareOfPayment(
  { amountValue, tokenValue }: Pick<Payment, 'amountValue' | 'tokenValue'>,
  item: StoredItem,
): Share {
  const asked = BigInt(item.amount);
  const amount = item.method === 'deposit' && tokenValue !== null ? BigInt(tokenValue) : asked;
  return { price: BigInt(amountValue), amount, fee: sweptFee(item, { asset: item.asset, amount }) };
}

/** The part of a payment that its refunds have not taken. */
export function shareLeft(whole: Share, refunds: readonly Refund[]): Share {
  return leftOf(whole, refunds.filter(takesPart).map(shareOfRefund));
}

function shareOfRefund({ price, amount, fee }: Refund): Share {
  return { price: BigInt(price), amount: BigInt(amount), fee: BigInt(fee) };
}

export interface RefundPlanInput {
  readonly payment: Payment;
  /** The item that paid the payment. */
  readonly item: StoredItem;
  readonly number: number;
  readonly share: Share;
  readonly recipient: string;
  readonly reason: string | null;
  readonly isOperators: boolean;
  readonly sendAfter: Date | null;
  /** The account that floats are on. */
  floatAccount(network: string): string;
  /** Units of the held amount that were taken for it before its row was lost. */
  readonly takenBefore?: bigint;
}

/**
 * The terms of a refund. Its part of the held amount is claimed in the same transaction, so that it cannot be paid out. A
 * held amount that is on its way to the merchant is the merchant's: then floats pay. The caller has locked the payment.
 */
export async function planRefund(tx: Tx, deps: RowKeyDeps, input: RefundPlanInput, at: Date): Promise<NewRefund> {
  const { payment, item, number, share, recipient, reason, isOperators, sendAfter, takenBefore = 0n } = input;
  const { id: paymentId, merchantId } = payment;
  const { network, asset } = item;
  const method = methodOf(item);
  const { amount, fee } = share;
  const cover = coverOf({ amount, fee, held: takenBefore + (await lockHeld(tx, paymentId)) });
  const units = cover.held > takenBefore ? cover.held - takenBefore : 0n;
  await takeForRefund(tx, { paymentId, units, at });
  const id = refundIdOf(paymentId, number);
  const terms = { id, paymentId, merchantId, network, asset, method, recipient, amount: amount.toString() };
  return {
    ...terms,
    number,
    price: share.price.toString(),
    fee: fee.toString(),
    reason,
    isOperators,
    sendAfter,
    fromHeld: cover.held.toString(),
    fromMerchant: cover.merchant.toString(),
    fromOperator: cover.operator.toString(),
    // A held amount is on the account that it arrived at.
    account: cover.held > 0n ? item.recipient : input.floatAccount(network),
    mac: refundMac(deps, terms),
  };
}
