import type { ItemMethod, PayMethod } from '../domain/item.ts';
import type { KnownAsset } from './network.ts';
import { REGISTRY } from './networks.ts';
import { assetsOf as assetsIn, methodOf as methodIn } from './registry.ts';

export const ASSETS: readonly KnownAsset[] = REGISTRY.assets;

export function methodOf(item: { readonly asset: string; readonly method: ItemMethod }): PayMethod {
  return methodIn(REGISTRY, item);
}

export function findAsset(id: string): KnownAsset | undefined {
  return REGISTRY.asset(id);
}

export function assetsOf(chainId: string): readonly KnownAsset[] {
  return assetsIn(REGISTRY, chainId);
}
