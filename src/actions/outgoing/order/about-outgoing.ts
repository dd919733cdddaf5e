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
 * The id of the payment that a payout or refund belongs to. A refund, and a payout of an older version, contain it in their own id. The
 * id of a newer payout is derived from a lot, so its row stores the payment's id.
 */
export function paymentOfOutgoing({ id, paymentId }: Pick<Outgoing, 'id' | 'paymentId'>): string {
  return paymentId ?? paymentIdOf(id);
}
