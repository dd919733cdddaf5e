import { parseAsset } from '../domain/caip.ts';
import type { Item } from '../domain/item.ts';
import { commitmentOf, NATIVE_TOKEN } from './evm/collector.ts';
import { depositCommitment } from './evm/deposits.ts';
import { collectorItem, depositTerms } from './evm/evm-context.ts';

/** The parts of a commitment that are not in the item itself. */
export interface CommittedPlace {
  /** The number of the chain. */
  readonly chainId: string;
  readonly collector: string;
  /** The zero address for the coin of the chain. */
  readonly token: string;
}

/**
 * The parts needed to compute the item's commitment again. Undefined when the result differs from the stored
 * commitment, because stored data was lost.
 */
export function committedPlace(item: Item, commitment: string): CommittedPlace | undefined {
  const asset = parseAsset(item.asset);
  if (!asset.ok || asset.value.namespace !== 'eip155') return undefined;
  const [, chainId = ''] = item.network.split(':');
  const token = (asset.value.kind === 'slip44' ? NATIVE_TOKEN : asset.value.reference) as typeof NATIVE_TOKEN;
  const feeAccount = item.feeAccount as typeof NATIVE_TOKEN;
  const collector = item.collector as typeof NATIVE_TOKEN;
  if (item.method === 'deposit') {
    const isSame = depositCommitment(depositTerms(item)) === commitment;
    return isSame ? { chainId, collector, token } : undefined;
  }
  const hashed = commitmentOf({ chainId: Number(chainId), collector, token, feeAccount, ...collectorItem(item) });
  return hashed === commitment ? { chainId, collector, token } : undefined;
}
