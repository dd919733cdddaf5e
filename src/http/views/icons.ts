import type { Icon } from '../../chains/records/icon.ts';
import type { Registry, RegistryDeps } from '../../chains/registry.ts';

/** The origin of the gateway's URLs. Pictures of tokens and networks are served from it, so that no third party sees the page view. */
export interface Origin extends RegistryDeps {
  readonly publicUrl: string;
}

export function tokenIconUrl({ publicUrl, registry }: Origin, asset: string): string {
  return `${publicUrl}/icons/token/${encodeURIComponent(tokenIconName(registry, asset))}.svg`;
}

/**
 * The name of a token's picture: its symbol. A token whose picture differs from that of the first token with the symbol has its id
 * as the name.
 */
export function tokenIconName(registry: Registry, asset: string): string {
  let names = namesByRegistry.get(registry);
  if (names === undefined) {
    names = tokenIconNames(registry);
    namesByRegistry.set(registry, names);
  }
  return names.get(asset) ?? nameById(asset);
}

/** The names of tokens' pictures by registry, kept because every amount of an answer needs one. */
const namesByRegistry = new WeakMap<Registry, ReadonlyMap<string, string>>();

function tokenIconNames(registry: Registry): ReadonlyMap<string, string> {
  const firsts = new Map<string, Icon | undefined>();
  const all = iconedAssets(registry);
  for (const { id, symbol } of all) firsts.set(symbol, firsts.get(symbol) ?? registry.icon(id));
  return new Map(
    all.map(({ id, symbol }) => [id, isSame(registry.icon(id), firsts.get(symbol)) ? symbol : nameById(id)]),
  );
}

/** All tokens and native coins. The native coins are taken from the networks, because not all of them are among the assets. */
export function iconedAssets({ assets, networks }: Registry): { readonly id: string; readonly symbol: string }[] {
  return [...assets, ...networks.map(({ coin }) => coin)].map(({ id, symbol }) => ({ id, symbol }));
}

function isSame(one: Icon | undefined, other: Icon | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && one.bytes.equals(other.bytes));
}

function nameById(asset: string): string {
  return asset.replace(/[:/]/g, '-');
}

/**
 * The URL of a network's picture. The file has the CAIP-2 id with a hyphen for the colon, because some file systems do not allow
 * colons.
 */
export function networkIconUrl({ publicUrl }: Origin, chainId: string): string {
  return `${publicUrl}/icons/network/${chainId.replace(':', '-')}.svg`;
}

/** The gateway's copy of a merchant's logo, named by the hash of its bytes. */
export function logoUrl({ publicUrl }: Origin, hash: string): string {
  return `${publicUrl}/logos/${hash}`;
}
