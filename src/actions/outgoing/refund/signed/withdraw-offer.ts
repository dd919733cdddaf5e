import type { Registry } from '../../../../chains/registry.ts';
import { deleteOffered, type Outgoing } from '../../../../store/money/outgoing.ts';
import { lockRefund } from '../../../../store/money/refunds.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { alertOfWait } from '../alert-of-wait.ts';
import { moveRefund } from '../move-refund.ts';

/**
 * Withdraws a signature request to the merchant's account: the chain has proved that the signature can never be carried out. The
 * refund has not failed. It needs funds again, and floats may cover it.
 */
export async function withdrawOffer(
  tx: Tx,
  registry: Registry,
  { id, payer }: Outgoing,
  reason: string,
  at: Date,
): Promise<void> {
  const refund = await lockRefund(tx, id);
  await deleteOffered(tx, id);
  // Without a signature the refund has never left `awaiting_funds`.
  if (refund?.state !== 'sending') return;
  const problem = `the signature of ${payer} was not carried out in time (${reason})`;
  await moveRefund(tx, refund, { event: 'lapsed', actor: 'watcher', evidence: { reason }, problem }, at);
  await alertOfWait(tx, registry, refund, problem, at);
}
