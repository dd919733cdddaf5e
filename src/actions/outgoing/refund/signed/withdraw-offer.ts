import { deleteOffered, type Outgoing } from '../../../../store/money/outgoing.ts';
import { lockRefund } from '../../../../store/money/refunds.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { alertOfWait } from '../alert-of-wait.ts';
import { moveRefund } from '../move-refund.ts';

/**
 * Takes back a request to the merchant's account: the chain has proved that its signature can never be carried out. The
 * refund needs funds again, and floats may cover it. It has not failed.
 */
export async function withdrawOffer(tx: Tx, { id, payer }: Outgoing, reason: string, at: Date): Promise<void> {
  const refund = await lockRefund(tx, id);
  await deleteOffered(tx, id);
  // Without the signature the refund has never left its state.
  if (refund?.state !== 'sending') return;
  const problem = `the signature of ${payer} was not carried out in time (${reason})`;
  await moveRefund(tx, refund, { event: 'lapsed', actor: 'watcher', evidence: { reason }, problem }, at);
  await alertOfWait(tx, refund, problem, at);
}
