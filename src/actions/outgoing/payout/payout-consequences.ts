import { amountText } from '../../../chains/amount-text.ts';
import { payoutEntry } from '../../../domain/books.ts';
import { paymentIdOf } from '../../../domain/ids.ts';
import { holdAgain, setPayoutState } from '../../../store/money/payouts.ts';
import { deletePaymentSettlement } from '../../../store/payments/payment-settlements.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import { recordEntries } from '../../books/record.ts';
import { notePayments, settlePayments } from '../../paying/move-payment.ts';
import { aboutOutgoing } from '../about-outgoing.ts';
import type { Consequences } from '../consequences.ts';
import { logPayouts } from './log-payouts.ts';

/** The same destination is retried after this time, another one at once. */
const RETRY_MS = 6 * 3_600_000;

export const PAYOUT: Consequences = {
  async paid(tx, outgoing, proof, at) {
    const { id, asset, amount, recipient } = outgoing;
    const paymentId = paymentIdOf(id);
    // The settlement first: it locks the payment, which every transaction locks before its payout.
    const settlement = { paymentId, asset, amount, recipient, transactionHash: proof.transaction, at };
    await settlePayments(tx, [settlement], { actor: 'watcher', evidence: { payout: id, ...proof }, at });
    await setPayoutState(tx, { paymentId, from: 'sending', to: 'paid', at });
    await recordEntries(tx, [payoutEntry('done', aboutOutgoing(outgoing), BigInt(amount), proof)], at);
    await logPayouts(tx, [outgoing], { type: 'payout.paid', actor: 'watcher', evidence: { ...proof } }, at);
    await deleteAlert(tx, { name: 'payout_failed', subject: id });
  },
  async failed(tx, outgoing, { problem }, at) {
    const { id, amount } = outgoing;
    const retryAt = new Date(at.getTime() + RETRY_MS);
    await holdAgain(tx, { paymentId: paymentIdOf(id), problem, retryAt, at });
    await recordEntries(tx, [payoutEntry('failed', aboutOutgoing(outgoing), BigInt(amount))], at);
    await logPayouts(tx, [outgoing], { type: 'payout.failed', actor: 'watcher', evidence: { problem } }, at);
    const message = `The payout of ${amountText(outgoing.asset, amount)} to ${outgoing.recipient} did not arrive (${problem}). The money is held, and is sent again later.`;
    await upsertAlert(tx, { name: 'payout_failed', subject: id, message, lastSeen: at });
  },
  async undone(tx, outgoing, at) {
    const { id } = outgoing;
    const paymentId = paymentIdOf(id);
    await lockPayments(tx, [paymentId]);
    await deletePaymentSettlement(tx, paymentId);
    await notePayments(tx, [paymentId], { type: 'payment.reorged', actor: 'watcher', evidence: { payout: id } }, at);
    await setPayoutState(tx, { paymentId, from: 'paid', to: 'sending', at });
    await recordEntries(tx, [payoutEntry('done', aboutOutgoing(outgoing), -BigInt(outgoing.amount))], at);
    await logPayouts(tx, [outgoing], { type: 'payout.undone', actor: 'watcher', evidence: {} }, at);
  },
};
