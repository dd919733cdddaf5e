import { formatForPeople } from '../domain/money.ts';
import { findAsset } from './assets.ts';
import { findNetwork } from './networks.ts';

/** Every native coin of an EVM chain has 18 decimals. A coin that is no payable asset has no record, and so no symbol. */
const COIN = { symbol: 'coin', decimals: 18 };

/** An amount of an asset as people write it, with the network: `40.00 USDC on Base`. */
export function amountText(asset: string, units: string | bigint): string {
  const chainId = asset.slice(0, asset.indexOf('/'));
  const text = tokenText(asset, units);
  return termsOf(asset) === undefined ? text : `${text} on ${findNetwork(chainId)?.name ?? chainId}`;
}

/** An amount without the network: `40.00 USDC`. For an unknown token, in smallest units, as its decimals are unknown. */
export function tokenText(asset: string, units: string | bigint): string {
  const terms = termsOf(asset);
  if (terms === undefined) return `${units} units of ${asset}`;
  return `${formatForPeople({ units: BigInt(units), decimals: terms.decimals })} ${terms.symbol}`;
}

function termsOf(asset: string): { readonly symbol: string; readonly decimals: number } | undefined {
  return findAsset(asset) ?? (/^eip155:\d+\/slip44:/.test(asset) ? COIN : undefined);
}
