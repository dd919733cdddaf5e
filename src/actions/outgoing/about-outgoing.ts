import type { Outgoing } from '../../store/money/outgoing.ts';

/** How the books name something that leaves an account of ours. */
export function aboutOutgoing({
  id,
  network,
  asset,
  merchantId,
}: Pick<Outgoing, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId: merchantId ?? '' };
}
