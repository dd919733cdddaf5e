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
