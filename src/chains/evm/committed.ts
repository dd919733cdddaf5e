import { parseAsset } from '../../domain/caip.ts';
import type { Item } from '../../domain/item.ts';
import type { CommittedTerms } from '../../domain/receipt.ts';
import { NATIVE_TOKEN, NONCE_SPACES } from './collector.ts';
import { itemCommitment, nonceSpaceOf, shownSubject } from './item-terms.ts';
import type { Hex } from './rpc-values.ts';

/** Implements `Family.committedTerms`. The zero address stands for the coin of the chain. */
export function committedTerms(item: Item, commitment: string): CommittedTerms | undefined {
  const asset = parseAsset(item.asset);
  if (!asset.ok || asset.value.namespace !== 'eip155') return undefined;
  const [, chainId = ''] = item.network.split(':');
  const token = asset.value.kind === 'slip44' ? NATIVE_TOKEN : (asset.value.reference as Hex);
  const hashed = itemCommitment(item, { chainId: Number(chainId), token });
  if (hashed !== commitment) return undefined;
  const nonceSpace = String(NONCE_SPACES[nonceSpaceOf(item.method)]);
  return { chainId, collector: item.collector, token, subject: `0x${shownSubject(item)}`, nonceSpace };
}
