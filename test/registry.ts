import type { KnownAsset, Network } from '../src/chains/network.ts';
import { builtInRegistry, coinOf as coinIn } from '../src/chains/registry.ts';

/** The built-in networks and tokens, for tests. The gateway gets its registry handed down. */
export const REGISTRY = builtInRegistry();

export const NETWORKS: readonly Network[] = REGISTRY.networks;
export const ASSETS: readonly KnownAsset[] = REGISTRY.assets;

export function findNetwork(chainId: string): Network | undefined {
  return REGISTRY.network(chainId);
}

export function findAsset(id: string): KnownAsset | undefined {
  return REGISTRY.asset(id);
}

export function assetsOf(chainId: string): readonly KnownAsset[] {
  return [...(findNetwork(chainId)?.assets.values() ?? [])];
}

export function coinOf(chainId: string): string {
  return coinIn(REGISTRY, chainId);
}
