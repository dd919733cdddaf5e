import { amountText } from '../../../chains/amount-text.ts';
import { payoutEntry } from '../../../domain/books.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { findSpendsBy } from '../../../store/money/payable-lots.ts';
import { deletePaymentSettlement, findPaymentSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { notePayments, settlePayments } from '../../paying/note-payments.ts';
import { aboutOutgoing, paymentOfOutgoing } from '../order/about-outgoing.ts';
import type { Consequences } from '../settle/consequences.ts';
import { holdAgain } from './hold-again.ts';
import { logPayouts } from './log-payouts.ts';

/** The time after which a failed payout is tried again to the same destination. Another destination is tried at once. */
const RETRY_MS = 6 * 3_600_000;

export const PAYOUT: Consequences = {
  async paid(tx, outgoing, proof, at) {
    const { id, asset, amount, recipient } = outgoing;
    const paymentId = paymentOfOutgoing(outgoing);
    await lockPayments(tx, [paymentId]);
    const settled = await settledBy(tx, outgoing);
    if (settled > 0n) {
      const transfer = { asset, amount: settled.toString(), recipient, transactionHash: proof.transaction };
      const note = { actor: 'watcher', evidence: { payout: id, ...proof }, at };
      await settlePayments(tx, [{ ...transfer, paymentId, at }], note);
    }
    await recordEntries(tx, [payoutEntry('done', aboutOutgoing(outgoing), BigInt(amount), proof)], at);
    await logPayouts(tx, [outgoing], { type: 'payout.paid', actor: 'watcher', evidence: { ...proof } }, at);
    await deleteAlert(tx, { name: 'payout_failed', subject: id });
  },
  async failed(tx, deps, outgoing, { problem }, at) {
    const { id, amount } = outgoing;
    await holdAgain(tx, outgoing, { problem, retryAt: new Date(at.getTime() + RETRY_MS) });
    await recordEntries(tx, [payoutEntry('failed', aboutOutgoing(outgoing), BigInt(amount))], at);
    await logPayouts(tx, [outgoing], { type: 'payout.failed', actor: 'watcher', evidence: { problem } }, at);
    const message = `The payout of ${amountText(deps.registry, outgoing.asset, amount)} to ${outgoing.recipient} did not arrive (${problem}). The money is held, and is sent again later.`;
    await upsertAlert(tx, { name: 'payout_failed', subject: id, message, lastSeen: at });
  },
  async undone(tx, _deps, outgoing, at) {
    const { id } = outgoing;
    const paymentId = paymentOfOutgoing(outgoing);
    await lockPayments(tx, [paymentId]);
    const settlement = await findPaymentSettlement(tx, paymentId);
    if (settlement?.transactionHash === outgoing.transactionHash) await deletePaymentSettlement(tx, paymentId);
    await notePayments(tx, [paymentId], { type: 'payment.reorged', actor: 'watcher', evidence: { payout: id } }, at);
    await recordEntries(tx, [payoutEntry('done', aboutOutgoing(outgoing), -BigInt(outgoing.amount))], at);
    await logPayouts(tx, [outgoing], { type: 'payout.undone', actor: 'watcher', evidence: {} }, at);
  },
};

/**
 * The part of a payout that settles its payment: the money that paid the payment. Unexpected money in the same payout settles nothing.
 */
async function settledBy(tx: Tx, { id, amount, paymentId }: Outgoing): Promise<bigint> {
  // Payouts of older versions consisted only of money that paid their payment.
  if (paymentId === null) return BigInt(amount);
  const spends = await findSpendsBy(tx, id);
  return spends.filter(({ isPaying }) => isPaying === true).reduce((sum, each) => sum + each.amount, 0n);
}
