import { idBytes } from '../../domain/ids.ts';
import type { Item } from '../../domain/item.ts';
import type { World } from '../../runtime/world.ts';
import { assetsOf, type KnownAsset, type PayTerms } from '../assets.ts';
import { type ContractRelease, DEPOSIT_CONTRACTS } from '../collectors.ts';
import type { Network } from '../networks.ts';
import { type CollectorItem, NATIVE_TOKEN } from './collector.ts';
import type { DepositTerms } from './deposits.ts';
import { createLens, type Lens } from './lens.ts';
import type { Rpc } from './rpc.ts';
import type { Hex } from './rpc-values.ts';
import { PERMIT2_DOMAIN, separatorOf } from './typed-data.ts';

/** The shared dependencies of the adapter's parts. */
export interface EvmContext {
  readonly world: World;
  readonly network: Network;
  readonly chainId: number;
  readonly rpc: Rpc;
  /** The same endpoints, for questions that can be batched into one call. */
  readonly lens: Lens;
  readonly assets: readonly AssetTerms[];
  /** All releases of the Collector, and of the contract of deposit addresses, the oldest first. */
  readonly collectors: readonly ContractRelease[];
  readonly depositContracts: readonly ContractRelease[];
  /** Throws for an asset that is not payable here: such items are never made. */
  termsOf(asset: string): AssetTerms;
}

/** An asset with its on-chain terms. */
export interface AssetTerms {
  readonly known: KnownAsset;
  readonly pay: PayTerms;
  /** In lower case; the zero address stands for the native coin. */
  readonly token: Hex;
  /** The separator of the EIP-712 domain that the payer signs for; undefined for the native coin. */
  readonly domainSeparator: Buffer | undefined;
}

export function createEvmContext(
  input: Pick<EvmContext, 'world' | 'network' | 'rpc' | 'chainId' | 'collectors'> &
    Partial<Pick<EvmContext, 'depositContracts'>>,
): EvmContext {
  const assets = assetsOf(input.network.chainId).flatMap((known) => {
    if (known.pay === undefined) return [];
    const token = tokenOf(known.id);
    return [{ known, pay: known.pay, token, domainSeparator: domainOf(known.pay, input.chainId, token) }];
  });
  const byId = new Map(assets.map((terms) => [terms.known.id, terms]));
  return {
    depositContracts: DEPOSIT_CONTRACTS,
    ...input,
    lens: createLens(input),
    assets,
    termsOf: (asset) => {
      const terms = byId.get(asset);
      if (terms === undefined) throw new RangeError(`${asset} cannot be paid with`);
      return terms;
    },
  };
}

/** The item in the form of the Collector's parameters. */
export function collectorItem(item: Item): CollectorItem {
  return {
    paymentId: `0x${Buffer.from(idBytes(item.subject)).toString('hex')}`,
    payer: item.payer as Hex,
    amount: item.amount,
    fee: item.fee,
    recipient: item.recipient as Hex,
    deadline: item.deadlineS,
  };
}

/** The item by deposit in the form of the deposit contract's parameters. */
export function depositTerms(item: Item): DepositTerms {
  const { paymentId, amount, fee, recipient } = collectorItem(item);
  const token = tokenOf(item.asked ?? item.asset);
  return { paymentId, token, feeAccount: item.feeAccount as Hex, recipient, amount, fee };
}

function tokenOf(asset: string): Hex {
  const [, kind, reference] = /\/(erc20|slip44):(.+)$/.exec(asset) ?? [];
  return (kind === 'erc20' ? reference?.toLowerCase() : NATIVE_TOKEN) as Hex;
}

function domainOf(pay: PayTerms, chainId: number, token: Hex): Buffer | undefined {
  if (pay.method === 'native') return undefined;
  return separatorOf(pay.method === 'permit2' ? PERMIT2_DOMAIN : { ...pay.domain, contract: token }, chainId);
}
