import type { World } from '../../runtime/world.ts';
import type { KnownAsset, Network, PayTerms } from '../network.ts';
import { NATIVE_TOKEN } from './collector.ts';
import { type ContractRelease, DEPOSIT_CONTRACTS } from './collectors.ts';
import type { Endpoint } from './endpoint.ts';
import { tokenOf } from './item-terms.ts';
import type { RpcCall } from './json-rpc.ts';
import { createLens, type Lens } from './lens.ts';
import type { Rpc } from './rpc.ts';
import type { Hex } from './rpc-values.ts';
import { PERMIT2_DOMAIN, separatorOf } from './typed-data.ts';

export interface EvmContext {
  readonly world: World;
  readonly network: Network;
  readonly chainId: number;
  readonly rpc: Rpc;
  /** Batches small questions into one `eth_call` (`lens.ts`) to the same endpoints. */
  readonly lens: Lens;
  /**
   * A second connection to the same endpoints, for surveys: the balance reads that anybody can cause by asking for payment
   * options.
   */
  readonly surveyRpc: Rpc;
  readonly surveyLens: Lens;
  readonly assets: readonly AssetTerms[];
  /** All releases of the Collector, and of the contract of deposit addresses, the oldest first. */
  readonly collectors: readonly ContractRelease[];
  readonly depositContracts: readonly ContractRelease[];
  /** The last base fee that no endpoint contradicted. It is kept in memory only: losing it in a restart does no harm. */
  readonly feeMemory: { baseFee: bigint | undefined };
  /**
   * The last accepted code hash of each of our contracts, by address. It is kept in memory only: losing it in a restart does no
   * harm.
   */
  readonly codeMemory: Map<string, string>;
  /** Throws for an asset that is not payable on this network: no items are made for such an asset. */
  termsOf(asset: string): AssetTerms;
  /**
   * The token of an asset whose balance can be read: a payable asset, or the native coin. The coin is included even if it is not
   * payable, because it pays for gas. Throws for other assets.
   */
  heldIn(asset: string): Pick<AssetTerms, 'token'>;
}

export interface AssetTerms {
  readonly known: KnownAsset;
  readonly pay: PayTerms;
  /** The address of the token in lower case. The zero address stands for the native coin. */
  readonly token: Hex;
  /** The separator of the EIP-712 domain that the payer signs for. Undefined for the native coin. */
  readonly domainSeparator: Buffer | undefined;
}

export function createEvmContext(
  input: Pick<EvmContext, 'world' | 'network' | 'rpc' | 'chainId' | 'collectors'> &
    Partial<Pick<EvmContext, 'depositContracts' | 'surveyRpc'>>,
): EvmContext {
  const assets = [...input.network.assets.values()].flatMap((known) => {
    if (known.pay === undefined) return [];
    const token = tokenOf(known.id);
    return [{ known, pay: known.pay, token, domainSeparator: domainOf(known.pay, input.chainId, token) }];
  });
  const byId = new Map(assets.map((terms) => [terms.known.id, terms]));
  const { surveyRpc = input.rpc } = input;
  const termsOf = (asset: string) => {
    const terms = byId.get(asset);
    if (terms === undefined) throw new RangeError(`${asset} cannot be paid with`);
    return terms;
  };
  return {
    depositContracts: DEPOSIT_CONTRACTS,
    ...input,
    lens: createLens(input),
    feeMemory: { baseFee: undefined },
    codeMemory: new Map(),
    surveyRpc,
    surveyLens: createLens({ world: input.world, rpc: surveyRpc }),
    assets,
    termsOf,
    heldIn: (asset) => (asset === input.network.coin.id ? { token: NATIVE_TOKEN } : termsOf(asset)),
  };
}

/** The context of the same network in which only this endpoint is asked. */
export function askingOnly(context: EvmContext, endpoint: Endpoint): EvmContext {
  const rpc = { ...context.rpc, call: <T>(call: RpcCall<T>) => context.rpc.callOne(endpoint, call) };
  return { ...context, rpc, lens: createLens({ world: context.world, rpc }) };
}

function domainOf(pay: PayTerms, chainId: number, token: Hex): Buffer | undefined {
  if (pay.method === 'native') return undefined;
  return separatorOf(pay.method === 'permit2' ? PERMIT2_DOMAIN : { ...pay.domain, contract: token }, chainId);
}
