import { feeOfReturned, returnIdFrom } from '../../../domain/money/money-out.ts';
import type { Lot } from '../../../domain/money/terms.ts';
import { isFinal } from '../../../domain/payment.ts';
import {
  insertUnexpected,
  type ReturningLot,
  setFeeOfRequested,
  updateLateMoney,
} from '../../../store/money/unexpected-money.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { notePayments } from '../../paying/note-payments.ts';

/**
 * Reports to the partner money that the payment did not need: too much, too little, too late, twice, in another token or on another
 * network. Money in another token or on another network is reported even before the payment ends, because it cannot pay the payment.
 * Each lot is reported once; the reported amount changes with the lot until somebody requests its return.
 */
export async function recordUnexpected(
  tx: Tx,
  { payment, lots }: { readonly payment: Payment; readonly lots: readonly Lot[] },
  at: Date,
): Promise<void> {
  const { id: paymentId, merchantId } = payment;
  const named = lots.flatMap((lot) => {
    const isReported = lot.reason === 'wrong_token' || lot.reason === 'wrong_network' || isFinal(payment.status);
    return lot.reason !== null && isReported ? [{ ...lot, reason: lot.reason }] : [];
  });
  await updateLateMoney(tx, paymentId, named);
  for (const lot of named) {
    const { reason, network, asset, commitment } = lot;
    const id = returnIdFrom(lot.id);
    const amount = lot.amount.toString();
    const unexpected = {
      id,
      lotId: lot.id,
      network,
      transactionHash: null,
      logIndex: 0,
      blockNumber: 0,
      source: 'late_payment',
      asset,
      sender: null,
      account: lot.account,
      amount,
      fee: lot.fee.toString(),
      isHeld: lot.isHeld,
      paymentId,
      merchantId,
      isBooked: true,
      state: 'unclaimed',
      reason,
    } as const;
    const added = await insertUnexpected(tx, [unexpected], at);
    if (added.length === 0) continue;
    const evidence = { stray: id, commitment, network, asset, amount };
    const lateMoney = { id, reason, asset, amount };
    await notePayments(tx, [paymentId], { type: 'payment.late_money', actor: 'watcher', evidence, lateMoney }, at);
  }
}

/**
 * Updates the fees of requested returns. A return may be requested before its money is swept, when no fee was taken yet. The
 * requested amount does not change.
 */
export async function renewFees(tx: Tx, returning: readonly ReturningLot[], lots: readonly Lot[]): Promise<void> {
  for (const row of returning.filter(({ state }) => state === 'requested')) {
    const lot = lots.find(({ id }) => id === row.lotId);
    if (lot === undefined) continue;
    const swept = lot.amount - lot.waiting;
    const fee = swept === 0n ? '0' : feeOfReturned({ amount: swept, fee: lot.fee }, BigInt(row.amount)).toString();
    if (fee === row.fee && lot.isHeld === row.isHeld) continue;
    await setFeeOfRequested(tx, { id: row.id, fee, isHeld: lot.isHeld });
  }
}
