import { join } from 'node:path';
import { type ItemMethod, isByDeposit, type PayMethod } from '../domain/item.ts';
import type { KnownAsset, Network } from './network.ts';
import type { Icon } from './records/icon.ts';
import { type FiledNetwork, readFolder } from './records/read-folder.ts';
import { recordHashes } from './records/record-facts.ts';
import { type Replacement, replacementProblems, replacementsOf } from './records/replacement-problems.ts';

/** All networks and tokens that this gateway knows. It is created once, at the start, and handed down. */
export interface Registry {
  readonly networks: readonly Network[];
  readonly assets: readonly KnownAsset[];
  /** The network with this CAIP-2 id. */
  network(chainId: string): Network | undefined;
  /** The asset with this CAIP-19 id, which must be in canonical spelling. */
  asset(id: string): KnownAsset | undefined;
  /** The icon of a network (by CAIP-2 id) or of an asset (by CAIP-19 id). */
  icon(id: string): Icon | undefined;
  /** The path of the file that a network comes from. Undefined for a network that only the database remembers. */
  fileOf(chainId: string): string | undefined;
  /**
   * The place of a field in the record of a network or an asset, as the beginning of a sentence: `networks/x.json:12:7
   * tokens[1].decimals`.
   */
  placeOf(id: string, field: RecordField): string;
  /** Tokens of the operator's files that replace built-in ones. */
  readonly replacements: readonly Replacement[];
  /** The hash of each record of the files, by CAIP-2. Nodes with the same files have the same hashes. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** A field of a network, of its coin or of a token, that messages name. */
export type RecordField =
  | 'mode'
  | 'slip44'
  | 'decimals'
  | 'symbol'
  | 'peg'
  | 'pay'
  | 'domain'
  | 'blockTimeMs'
  | 'finality';

export interface RegistryDeps {
  readonly registry: Registry;
}

/** The folder of the records that come with Till. */
const BUILT_IN = join(import.meta.dirname, '../../networks');
/** The SLIP-44 number of Ether, the usual coin of EVM chains. */
const ETHER = 60;

/**
 * Reads the built-in networks, and those of the operator's folder. A network of the operator replaces the built-in one with the
 * same id.
 */
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
  const replacements = own.networks.flatMap((filed) => replacementsOf(filed, builtInById.get(filed.network.chainId)));
  return { registry: createRegistry([...byId.values()], replacements) };
}

/** The registry of the records that come with Till, without an operator's folder. A test checks that they have no problem. */
export function builtInRegistry(): Registry {
  const read = readRegistry();
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.registry;
}

export function createRegistry(filed: readonly FiledNetwork[], replacements: readonly Replacement[] = []): Registry {
  const placeOf = placesIn(filed);
  const icons = new Map(filed.flatMap((each) => [...each.icons]));
  const files = new Map(filed.map(({ network, file }) => [network.chainId, file]));
  const networks = filed.map(({ network }) => network);
  return indexed(networks, {
    icon: (id) => icons.get(id),
    fileOf: (chainId) => files.get(chainId),
    placeOf,
    replacements,
    hashes: recordHashes(networks),
  });
}

/**
 * The registry with additional records that only the database remembers: those of removed files. They are used to display old
 * amounts, and are never offered to payers. The hashes of the registry cover the files only.
 */
export function withRemembered(registry: Registry, remembered: readonly Network[]): Registry {
  if (remembered.length === 0) return registry;
  const added = new Map(remembered.map((network) => [network.chainId, network]));
  const present = registry.networks.map((network) => {
    const more = added.get(network.chainId)?.assets ?? [];
    added.delete(network.chainId);
    return { ...network, assets: new Map([...network.assets, ...more]) };
  });
  return indexed([...present, ...added.values()], registry);
}

type Indexed = 'networks' | 'assets' | 'network' | 'asset';

function indexed(all: readonly Network[], { icon, fileOf, placeOf, replacements, hashes }: Omit<Registry, Indexed>) {
  const networks = all.toSorted(byReference);
  const assets = networks.flatMap((network) => [...network.assets.values()]);
  const networkById = new Map(networks.map((network) => [network.chainId, network]));
  const assetById = new Map(assets.map((asset) => [asset.id, asset]));
  return {
    networks,
    assets,
    network: (chainId: string) => networkById.get(chainId),
    asset: (id: string) => assetById.get(id),
    icon,
    fileOf,
    placeOf,
    replacements,
    hashes,
  };
}

function placesIn(filed: readonly FiledNetwork[]): Registry['placeOf'] {
  const byId = new Map(filed.map((each) => [each.network.chainId, each]));
  return (id, field) => {
    const [chainId = ''] = id.split('/', 1);
    const found = byId.get(chainId);
    if (found === undefined) return `${id}: ${field}`;
    const { network, placeOf } = found;
    if (id === chainId) return placeOf(field === 'slip44' ? ['coin', field] : [field]);
    if (id === network.coin.id) return placeOf(['coin', field]);
    // `placeOf` counts the tokens in the order of the file, without the coin. The map has the same order.
    const index = [...network.assets.keys()].filter((asset) => asset !== network.coin.id).indexOf(id);
    return placeOf(['tokens', index, field]);
  };
}

/**
 * The order of networks: live before test. Within a mode, EVM chains are ordered by their numbers, and other families come after
 * them.
 */
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

/** The payment method with which our own accounts pay out money that this item brought in. */
export function methodOf(
  registry: Registry,
  { asset, method }: { readonly asset: string; readonly method: ItemMethod },
): PayMethod {
  if (!isByDeposit(method)) return method;
  const pay = registry.asset(asset)?.pay;
  if (pay === undefined) throw new RangeError(`${asset} cannot be paid with`);
  return pay.method;
}
