import { paymentIdOf } from '../../domain/ids.ts';
import type { Outgoing } from '../../store/money/outgoing.ts';

/** The identification of an outgoing transfer in the books. */
export function aboutOutgoing({
  id,
  network,
  asset,
  merchantId,
}: Pick<Outgoing, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId: merchantId ?? '' };
}

/** The payment of a payout or refund. The id of a payout follows from a lot, and shows its payment only in older versions. */
export function paymentOfOutgoing({ id, paymentId }: Pick<Outgoing, 'id' | 'paymentId'>): string {
  return paymentId ?? paymentIdOf(id);
}
