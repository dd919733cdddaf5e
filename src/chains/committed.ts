import { parseAsset } from '../domain/caip.ts';
import type { Item } from '../domain/item.ts';
import { NATIVE_TOKEN, NONCE_SPACES } from './evm/collector.ts';
import { itemCommitment, nonceSpaceOf, shownSubject } from './evm/item-terms.ts';

/** The parts of a commitment that the item does not contain. */
export interface CommittedPlace {
  /** The EVM chain id, in decimal. */
  readonly chainId: string;
  readonly collector: string;
  /** The zero address for the coin of the chain. */
  readonly token: string;
  /** The subject's bytes as the chain shows them, in hex with 0x. */
  readonly subject: string;
  /** The number of the nonce space: the Collector, the token or Permit2. Not committed by the Collector's first release. */
  readonly nonceSpace: string;
}

/** The parts needed to recompute the commitment. Undefined if the result differs, because stored data was lost. */
export function committedPlace(item: Item, commitment: string): CommittedPlace | undefined {
  const asset = parseAsset(item.asset);
  if (!asset.ok || asset.value.namespace !== 'eip155') return undefined;
  const [, chainId = ''] = item.network.split(':');
  const token = (asset.value.kind === 'slip44' ? NATIVE_TOKEN : asset.value.reference) as typeof NATIVE_TOKEN;
  const hashed = itemCommitment(item, { chainId: Number(chainId), token });
  if (hashed !== commitment) return undefined;
  const nonceSpace = String(NONCE_SPACES[nonceSpaceOf(item.method)]);
  return { chainId, collector: item.collector, token, subject: `0x${shownSubject(item)}`, nonceSpace };
}
