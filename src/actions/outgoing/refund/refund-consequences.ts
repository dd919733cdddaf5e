import { amountText } from '../../../chains/amount-text.ts';
import { type Entry, type Proof, refundEntry, signedRefundEntry } from '../../../domain/books.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { lockRefund, type Refund } from '../../../store/money/refunds.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import type { Consequences } from '../settle/consequences.ts';
import { aboutRefund, moveRefund } from './move-refund.ts';
import { takeFeeBack } from './signed/return-fees.ts';

export const REFUND: Consequences = {
  async paid(tx, outgoing, proof, at) {
    const refund = await refundOf(tx, outgoing);
    const { transaction: transactionHash } = proof;
    await moveRefund(tx, refund, { event: 'paid', actor: 'watcher', evidence: { ...proof }, transactionHash }, at);
    await recordEntries(tx, [doneEntry(outgoing, refund, BigInt(refund.amount), proof)], at);
    for (const name of ['refund_failed', 'refund_awaiting_funds'] as const) {
      await deleteAlert(tx, { name, subject: refund.id });
    }
  },
  async failed(tx, deps, outgoing, { problem, evidence }, at) {
    const refund = await refundOf(tx, outgoing);
    // The money that covers the refund stays reserved until the refund is retried.
    await moveRefund(
      tx,
      refund,
      { event: 'failed', actor: 'watcher', evidence: { problem, ...evidence }, problem },
      at,
    );
    await recordEntries(tx, [refundEntry('failed', aboutRefund(refund), BigInt(refund.amount))], at);
    const message = `The refund of ${amountText(deps.registry, refund.asset, refund.amount)} to ${refund.recipient} did not arrive (${problem}): till refunds retry ${refund.id}`;
    await upsertAlert(tx, { name: 'refund_failed', subject: refund.id, message, lastSeen: at });
  },
  async undone(tx, deps, outgoing, at) {
    const refund = await refundOf(tx, outgoing);
    await moveRefund(tx, refund, { event: 'undone', actor: 'watcher', evidence: {} }, at);
    await recordEntries(tx, [doneEntry(outgoing, refund, -BigInt(refund.amount))], at);
    if (outgoing.signer === 'merchant') await takeFeeBack(tx, deps.registry, outgoing, at);
  },
};

function doneEntry({ signer }: Outgoing, refund: Refund, units: bigint, proof?: Proof): Entry {
  const about = aboutRefund(refund);
  return signer === 'merchant' ? signedRefundEntry(about, units, proof) : refundEntry('done', about, units, proof);
}

async function refundOf(tx: Tx, { id }: Outgoing): Promise<Refund> {
  const refund = await lockRefund(tx, id);
  if (refund === undefined) throw new Error('The refund of a sent transfer is missing.');
  return refund;
}
