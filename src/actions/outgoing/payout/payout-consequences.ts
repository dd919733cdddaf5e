import { amountText } from '../../../chains/amount-text.ts';
import { payoutEntry } from '../../../domain/books.ts';
import { paymentIdOf } from '../../../domain/ids.ts';
import { holdAgain, setPayoutState } from '../../../store/money/payouts.ts';

import { deletePaymentSettlement, insertPaymentSettlements } from '../../../store/payments/payment-settlements.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import { recordEntries } from '../../books/record.ts';
import { aboutOutgoing } from '../about-outgoing.ts';
import type { Consequences } from '../consequences.ts';

/** Nothing has changed that we know of: the same destination is tried again now and then, another one at once. */
const RETRY_MS = 6 * 3_600_000;

export const PAYOUT: Consequences = {
  async paid(tx, outgoing, proof, at) {
    const { id, asset, amount, recipient } = outgoing;
    const paymentId = paymentIdOf(id);
    // The settlement first: it locks the payment, which everybody locks before its payout.
    const settlement = { paymentId, asset, amount, recipient, transactionHash: proof.transaction, at };
    await insertPaymentSettlements(tx, [settlement]);
    await setPayoutState(tx, { paymentId, from: 'sending', to: 'paid', at });
    await recordEntries(tx, [payoutEntry('done', aboutOutgoing(outgoing), BigInt(amount), proof)], at);
    await deleteAlert(tx, { name: 'payout_failed', subject: id });
  },
  async failed(tx, outgoing, { problem }, at) {
    const { id, amount } = outgoing;
    const retryAt = new Date(at.getTime() + RETRY_MS);
    await holdAgain(tx, { paymentId: paymentIdOf(id), problem, retryAt, at });
    await recordEntries(tx, [payoutEntry('failed', aboutOutgoing(outgoing), BigInt(amount))], at);
    const message = `The payout of ${amountText(outgoing.asset, amount)} to ${outgoing.recipient} did not arrive (${problem}). The money is held, and is sent again later.`;
    await upsertAlert(tx, { name: 'payout_failed', subject: id, message, lastSeen: at });
  },
  async undone(tx, outgoing, at) {
    const paymentId = paymentIdOf(outgoing.id);
    await deletePaymentSettlement(tx, paymentId);
    await setPayoutState(tx, { paymentId, from: 'paid', to: 'sending', at });
    await recordEntries(tx, [payoutEntry('done', aboutOutgoing(outgoing), -BigInt(outgoing.amount))], at);
  },
};
