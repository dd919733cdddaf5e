import { join } from 'node:path';
import { type ItemMethod, isByDeposit, type PayMethod } from '../domain/item.ts';
import type { KnownAsset, Network } from './network.ts';
import type { Icon } from './records/icon.ts';
import { type FiledNetwork, readFolder } from './records/read-folder.ts';
import { replacementProblems } from './records/replacement-problems.ts';

/** All networks and tokens that this gateway knows. It is created once, at the start, and handed down. */
export interface Registry {
  readonly networks: readonly Network[];
  readonly assets: readonly KnownAsset[];
  /** By CAIP-2. */
  network(chainId: string): Network | undefined;
  /** By CAIP-19, in canonical spelling. */
  asset(id: string): KnownAsset | undefined;
  /** By CAIP-2 of a network, or CAIP-19 of an asset. */
  icon(id: string): Icon | undefined;
  /** Path of the file that a network comes from. */
  fileOf(chainId: string): string | undefined;
}

export interface RegistryDeps {
  readonly registry: Registry;
}

/** The records that come with Till. */
const BUILT_IN = join(import.meta.dirname, '../../networks');
/** The SLIP-44 number of Ether, the usual coin of EVM chains. */
const ETHER = 60;

/** The built-in networks, and those of the operator's folder, which add to them or replace them by id. */
export function readRegistry(
  folder?: string,
): { readonly registry: Registry } | { readonly problems: readonly string[] } {
  const builtIn = readFolder(BUILT_IN);
  const own = folder === undefined ? { networks: [], problems: [] } : readFolder(folder);
  const problems = [...builtIn.problems, ...own.problems];
  if (problems.length > 0) return { problems };
  const builtInById = new Map(builtIn.networks.map((filed) => [filed.network.chainId, filed.network]));
  const replaced = own.networks.flatMap((filed) => replacementProblems(filed, builtInById.get(filed.network.chainId)));
  if (replaced.length > 0) return { problems: replaced };
  const byId = new Map([...builtIn.networks, ...own.networks].map((filed) => [filed.network.chainId, filed]));
  return { registry: createRegistry([...byId.values()]) };
}

/** The records that come with Till, alone. A test checks that they have no problem. */
export function builtInRegistry(): Registry {
  const read = readRegistry();
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.registry;
}

export function createRegistry(filed: readonly FiledNetwork[]): Registry {
  const networks = filed.map(({ network }) => network).sort(byReference);
  const assets = networks.flatMap((network) => [...network.assets.values()]);
  const networkById = new Map(networks.map((network) => [network.chainId, network]));
  const assetById = new Map(assets.map((asset) => [asset.id, asset]));
  const icons = new Map(filed.flatMap((each) => [...each.icons]));
  const files = new Map(filed.map(({ network, file }) => [network.chainId, file]));
  return {
    networks,
    assets,
    network: (chainId) => networkById.get(chainId),
    asset: (id) => assetById.get(id),
    icon: (id) => icons.get(id),
    fileOf: (chainId) => files.get(chainId),
  };
}

/** Live networks first; EVM chains by their numbers, then the others. */
function byReference(one: Network, other: Network): number {
  const inMode = one.chainId.localeCompare(other.chainId, 'en', { numeric: true });
  return one.mode === other.mode ? inMode : one.mode === 'live' ? -1 : 1;
}

export function assetsOf(registry: Registry, chainId: string): readonly KnownAsset[] {
  return [...(registry.network(chainId)?.assets.values() ?? [])];
}

export function isTestNetwork(registry: Registry, chainId: string): boolean {
  return registry.network(chainId)?.mode === 'test';
}

/** The CAIP-19 id of a network's native coin, which pays for gas. */
export function coinOf(registry: Registry, chainId: string): string {
  return registry.network(chainId)?.coin.id ?? `${chainId}/slip44:${ETHER}`;
}

/** The method by which our own accounts forward the money that an item has brought. */
export function methodOf(
  registry: Registry,
  { asset, method }: { readonly asset: string; readonly method: ItemMethod },
): PayMethod {
  if (!isByDeposit(method)) return method;
  const pay = registry.asset(asset)?.pay;
  if (pay === undefined) throw new RangeError(`${asset} cannot be paid with`);
  return pay.method;
}
