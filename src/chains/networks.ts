import type { Network } from './network.ts';
import { builtInRegistry, isTestNetwork as isTestIn } from './registry.ts';

export const REGISTRY = builtInRegistry();

export const NETWORKS: readonly Network[] = REGISTRY.networks;

export function findNetwork(chainId: string): Network | undefined {
  return REGISTRY.network(chainId);
}

export function isTestNetwork(chainId: string): boolean {
  return isTestIn(REGISTRY, chainId);
}
