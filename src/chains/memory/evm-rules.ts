import { parseChainId } from '../../domain/caip.ts';
import type { Item } from '../../domain/item.ts';
import { NATIVE_TOKEN } from '../evm/collector.ts';
import type { AssetTerms } from '../evm/evm-context.ts';
import { depositAddressOf, itemCommitment, sealedTerms, tokenOf } from '../evm/item-terms.ts';
import { readKeySignature, recoverAddress } from '../evm/key-signature.ts';
import type { Hex } from '../evm/rpc-values.ts';
import { signItem } from '../evm/sign-item.ts';
import { digestOf, PERMIT2_DOMAIN, separatorOf } from '../evm/typed-data.ts';
import { walletActions, walletSteps } from '../evm/wallet-actions.ts';
import type { Network } from '../network.ts';
import type { PayerSide, WalletAction } from '../payer-side.ts';
import type { Signer } from '../signer.ts';

/** The rules of a real EVM chain, such as typed data and digests, so that tests use the same wallet code for both chains. */
export interface EvmRules {
  /** The payable assets by CAIP-19 id. */
  readonly assets: ReadonlyMap<string, AssetTerms>;
  /** True for the coin, false for a payable token. Throws for other assets, as the real chain does. */
  isCoin(asset: string): boolean;
  commitmentOf(item: Item): string;
  sealedTerms: PayerSide['sealedTerms'];
  depositAddressOf(item: Item): string;
  walletSteps: PayerSide['walletSteps'];
  walletActions(item: Item, allowance: bigint): readonly WalletAction[];
  signItem(signer: Signer, item: Item): Promise<string>;
  /** The address whose key signed the item, in lower case. Undefined when the text is not the signature of a key. */
  signerOf(item: Item, signature: string): string | undefined;
}

export function createEvmRules(network: Network): EvmRules {
  const chainId = chainNumber(network);
  const terms = [...network.assets.values()].flatMap((known): AssetTerms[] => {
    const { id, pay } = known;
    if (pay === undefined) return [];
    if (pay.method === 'native') return [{ known, pay, token: NATIVE_TOKEN, domainSeparator: undefined }];
    const token = id.slice(id.lastIndexOf(':') + 1).toLowerCase() as Hex;
    const domain = pay.method === 'permit2' ? PERMIT2_DOMAIN : { ...pay.domain, contract: token };
    return [{ known, pay, token, domainSeparator: separatorOf(domain, chainId) }];
  });
  const assets = new Map(terms.map((asset) => [asset.known.id, asset]));

  function termsOf({ asset }: Pick<Item, 'asset'>): AssetTerms {
    const found = assets.get(asset);
    if (found === undefined) throw new RangeError(`${asset} cannot be paid with`);
    return found;
  }

  const commit = (item: Item): Hex => itemCommitment(item, { chainId, token: tokenOf(item.asset) });

  return {
    assets,
    isCoin: (asset) => asset === network.coin.id || termsOf({ asset }).pay.method === 'native',
    commitmentOf: commit,
    sealedTerms: (item) => sealedTerms(item, chainId),
    depositAddressOf,
    walletSteps: (cost, allowance) => walletSteps(termsOf(cost), cost.amount, allowance),
    walletActions: (item, allowance) => walletActions(item, termsOf(item), chainId, commit(item), allowance),
    signItem: (signer, item) => signItem(signer, item, { terms: termsOf(item), chainId, commitment: commit(item) }),
    signerOf: (item, signature) => {
      const { token, domainSeparator } = termsOf(item);
      const read = readKeySignature(signature);
      if (read === undefined || domainSeparator === undefined) return undefined;
      return recoverAddress(digestOf(item, token, domainSeparator, commit(item)), read);
    },
  };
}

function chainNumber({ chainId }: Network): number {
  const parsed = parseChainId(chainId);
  if (!parsed.ok || parsed.value.namespace !== 'eip155') throw new RangeError('The memory chain is an EVM chain');
  return Number(parsed.value.reference);
}
