import { type AcceptedAssets, accepts, canonicalList } from '../../../src/domain/accepted-assets.ts';
import type { Asset } from './api-types.ts';

export interface AssetGroup {
  /** CAIP-2. */
  readonly network: string;
  readonly name: string;
  readonly assets: readonly { readonly id: string; readonly symbol: string }[];
}

/**
 * The networks with their assets. Assets and networks of the list that the gateway does not offer at the moment are included, too,
 * with their ids as names: otherwise nobody could switch them off.
 */
export function groupsOf(
  offered: readonly Pick<Asset, 'asset' | 'symbol' | 'networkName'>[],
  list: AcceptedAssets,
): readonly AssetGroup[] {
  const known = new Map(offered.map((asset) => [asset.asset, asset]));
  const names = new Map(offered.map(({ asset, networkName }) => [networkIn(asset), networkName]));
  const ids = [...known.keys(), ...(list ?? []).filter((id) => !known.has(id))];
  const groups = Map.groupBy(ids, networkIn);
  return [...groups].map(([network, members]) => ({
    network,
    name: names.get(network) ?? network,
    assets: members
      .filter((id) => id !== network)
      .map((id) => ({ id, symbol: known.get(id)?.symbol ?? id.slice(network.length + 1) })),
  }));
}

/** The list after an asset or a whole network was switched on or off. */
export function switched(list: readonly string[], group: AssetGroup, id: string): readonly string[] {
  const { network, assets } = group;
  const others = list.filter((each) => networkIn(each) !== network);
  const isOn = accepts(list, id);
  if (id === network) return isOn ? others : canonicalList([...others, network]);
  const left = assets.map((asset) => asset.id).filter((each) => (each === id ? !isOn : accepts(list, each)));
  return canonicalList([...others, ...left]);
}

/** The whole networks and the single assets of a list, to be named in a sentence. */
export function namedIn(list: readonly string[], groups: readonly AssetGroup[]) {
  return groups.flatMap(({ network, name, assets }) => {
    if (list.includes(network)) return [{ network: name }];
    return assets.filter(({ id }) => list.includes(id)).map(({ symbol }) => ({ network: name, symbol }));
  });
}

/** The initial list when a person begins to choose assets: it contains every network that the gateway offers now. */
export function everything(groups: readonly AssetGroup[]): readonly string[] {
  return canonicalList(groups.map(({ network }) => network));
}

function networkIn(id: string): string {
  return id.split('/', 1)[0] ?? '';
}
