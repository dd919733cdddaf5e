import { formatForPeople } from '../domain/money.ts';
import { findAsset } from './assets.ts';
import { findNetwork } from './networks.ts';

/** Every EVM chain's own coin has 18 decimals; where nobody can pay with it, it has no record, and its symbol no place. */
const COIN = { symbol: 'coin', decimals: 18 };

/** An amount of an asset as people write it, with the network: `40.00 USDC on Base`. */
export function amountText(asset: string, units: string | bigint): string {
  const chainId = asset.slice(0, asset.indexOf('/'));
  const text = tokenText(asset, units);
  return termsOf(asset) === undefined ? text : `${text} on ${findNetwork(chainId)?.name ?? chainId}`;
}

/** The same without the network: `40.00 USDC`. An unknown token has no decimals that we could know of. */
export function tokenText(asset: string, units: string | bigint): string {
  const terms = termsOf(asset);
  if (terms === undefined) return `${units} units of ${asset}`;
  return `${formatForPeople({ units: BigInt(units), decimals: terms.decimals })} ${terms.symbol}`;
}

function termsOf(asset: string): { readonly symbol: string; readonly decimals: number } | undefined {
  return findAsset(asset) ?? (/^eip155:\d+\/slip44:/.test(asset) ? COIN : undefined);
}
