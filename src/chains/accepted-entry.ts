import type { AcceptedAssets } from '../domain/accepted-assets.ts';
import { parseAsset, parseChainId } from '../domain/caip.ts';
import type { Mode } from '../domain/mode.ts';
import type { Parsed } from '../domain/parsed.ts';
import { isOffered } from './network.ts';
import { assetsOf, type Registry } from './registry.ts';

/** The canonical id of an entry in a list of accepted assets: CAIP-19 of an asset, or CAIP-2 of a network. */
export function parseAcceptedId(text: string): Parsed<string> {
  if (!text.includes('/')) {
    const chain = parseChainId(text);
    return chain.ok ? { ok: true, value: chain.value.chainId } : chain;
  }
  const asset = parseAsset(text);
  return asset.ok ? { ok: true, value: asset.value.id } : asset;
}

/** The mode of the network that an id names. Undefined for an id of an unknown network. */
export function modeOfAccepted(registry: Registry, id: string): Mode | undefined {
  return registry.network(chainIn(id))?.mode;
}

/**
 * The reason why this canonical id cannot be in the accepted assets of payments in `mode`. Undefined if it can. `served` lists
 * the networks of the mode that take payments. An empty `served` means that the mode is not set up yet. Then every known network
 * of the mode is allowed.
 */
export function acceptedIdProblem(
  registry: Registry,
  id: string,
  { mode, served }: { readonly mode: Mode; readonly served: readonly string[] },
): string | undefined {
  const chainId = chainIn(id);
  const own = modeOfAccepted(registry, id);
  const isNetwork = id === chainId;
  const named = isNetwork ? assetsOf(registry, chainId) : [registry.asset(id) ?? []].flat();
  const isPayable = named.some(isOffered);
  if (own !== undefined && own !== mode) return `is on a ${own} network, where no ${mode} payment can be paid`;
  const isServed = own !== undefined && (served.length === 0 || served.includes(chainId));
  if (isPayable && isServed) return undefined;
  return isNetwork
    ? 'names a network that this gateway takes no payments on; GET /v1/assets lists networks and assets'
    : 'names an asset that this gateway takes no payments in; GET /v1/assets lists the assets';
}

function chainIn(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** A list of accepted assets in words: `USDC on Base, every asset of Polygon`. */
export function acceptedText(registry: Registry, list: AcceptedAssets): string {
  if (list === null) return 'every asset';
  const nameOf = (id: string) => registry.network(chainIn(id))?.name ?? chainIn(id);
  const names = list.map((id) => {
    if (id === chainIn(id)) return `every asset of ${nameOf(id)}`;
    return `${registry.asset(id)?.symbol ?? id} on ${nameOf(id)}`;
  });
  return names.join(', ');
}
