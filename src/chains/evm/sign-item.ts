import type { Item } from '../../domain/item.ts';
import type { Signer } from '../signer.ts';
import type { AssetTerms } from './evm-context.ts';
import { digestOf } from './typed-data.ts';
import { typedDataText } from './wallet-actions.ts';
import { uint } from './words.ts';

/** Signs an item with a key of ours, as a payer's wallet would. */
export async function signItem(
  signer: Signer,
  item: Item,
  { terms, chainId, commitment }: { terms: AssetTerms; chainId: number; commitment: string },
): Promise<string> {
  const { token, domainSeparator } = terms;
  if (domainSeparator === undefined) throw new TypeError('native coin is not paid by a signature');
  if (signer.address !== item.payer) throw new TypeError('an item is signed by its payer');
  const typedData: unknown = JSON.parse(typedDataText(item, terms, chainId, commitment));
  const content = { kind: 'typed_data', network: item.network, typedData, items: [item] } as const;
  const { r, s, yParity } = await signer.sign(digestOf(item, token, domainSeparator, commitment), content);
  return `0x${uint(r)}${uint(s)}${(27 + yParity).toString(16)}`;
}
