import { deleteSpends } from '../../../store/money/lots.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { findSpendsBy, postponeLots } from '../../../store/money/payable-lots.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { paymentOfOutgoing } from '../order/about-outgoing.ts';

/**
 * Releases the lots of a payout that did not arrive, so that they are held again. A payout of these lots to another destination may
 * follow at once, to the same destination only after `retryAt`.
 */
export async function holdAgain(
  tx: Tx,
  payout: Outgoing,
  { problem, retryAt }: { readonly problem: string; readonly retryAt: Date },
): Promise<void> {
  const { id, network, recipient } = payout;
  await lockPayments(tx, [paymentOfOutgoing(payout)]);
  const spends = await findSpendsBy(tx, id);
  await deleteSpends(tx, id);
  const lots = spends.map(({ lot }) => lot);
  await postponeLots(tx, { lots, destination: `${network}:${recipient}`, problem, retryAt });
}
