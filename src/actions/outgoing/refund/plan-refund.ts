import { methodOf, type RegistryDeps } from '../../../chains/registry.ts';
import { sweptFee } from '../../../domain/deposit.ts';
import { refundIdOf } from '../../../domain/ids.ts';
import { leftOf, type Share, takesPart } from '../../../domain/refund.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import type { NewRefund, Refund } from '../../../store/money/refunds.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { takeHeld } from './held-cover.ts';
import { refundMac } from './refund-rows.ts';

/**
 * The price, amount and fee of the whole payment. The amount at a deposit address is the paid one, which may be a little less than
 * requested.
 */
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
  /** The account of a network that holds the floats. */
  floatAccount(network: string): string;
}

/**
 * The terms of a refund. Its held part is taken in the same database transaction, so that it cannot be paid out. If that part cannot be
 * taken yet, the refund waits, and is planned again when it is covered. The caller has locked the payment.
 */
export async function planRefund(tx: Tx, deps: RowKeyDeps & RegistryDeps, input: RefundPlanInput): Promise<NewRefund> {
  const { payment, item, number, share, recipient, reason, isOperators, sendAfter } = input;
  const { id: paymentId, merchantId } = payment;
  const { network, asset } = item;
  const method = methodOf(deps.registry, item);
  const { amount, fee } = share;
  const id = refundIdOf(paymentId, number);
  const paid = shareOfPayment(payment, item).amount;
  const held = await takeHeld(tx, { id, payment, item, paid, share });
  const units = held.is === 'covered' ? held.units : 0n;
  const terms = { id, paymentId, merchantId, network, asset, method, recipient, amount: amount.toString() };
  return {
    ...terms,
    number,
    price: share.price.toString(),
    fee: fee.toString(),
    reason,
    isOperators,
    sendAfter,
    fromHeld: units.toString(),
    fromMerchant: (amount - fee - units).toString(),
    fromOperator: fee.toString(),
    // A held amount is on the account at which it arrived.
    account: units > 0n ? item.recipient : input.floatAccount(network),
    waitsFor: held.is === 'waiting' ? held.for : null,
    mac: refundMac(deps, terms),
  };
}
