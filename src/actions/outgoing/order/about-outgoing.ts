import { paymentIdOf } from '../../../domain/ids.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';

/** Identifies an outgoing transfer in the books. */
export function aboutOutgoing({
  id,
  network,
  asset,
  merchantId,
}: Pick<Outgoing, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId: merchantId ?? '' };
}

/**
 * The payment of a payout or refund. Only older versions derived the id of a payout from its payment; now it is derived from a lot.
 */
export function paymentOfOutgoing({ id, paymentId }: Pick<Outgoing, 'id' | 'paymentId'>): string {
  return paymentId ?? paymentIdOf(id);
}
