import type { PayMethod } from '../../src/domain/item.ts';
import { ASSETS } from '../registry.ts';

/** The sandbox has an asset for every payment method. */
export const SANDBOX_ASSETS = {
  'eip3009-vrs': assetFor('eip3009-vrs'),
  'eip3009-bytes': assetFor('eip3009-bytes'),
  permit2: assetFor('permit2'),
  native: assetFor('native'),
} as const satisfies Record<PayMethod, string>;

function assetFor(method: PayMethod): string {
  const asset = ASSETS.find(({ id, pay }) => id.startsWith('eip155:31337/') && pay?.method === method);
  if (asset === undefined) throw new Error(`The sandbox has no asset for ${method}`);
  return asset.id;
}
