import { formatForPeople } from '../domain/money.ts';
import { findAsset, findNetwork } from './networks.ts';

/** An amount of an asset as people write it, with the network: `40.00 USDC on Base`. */
export function amountText(asset: string, units: string | bigint): string {
  const chainId = asset.slice(0, asset.indexOf('/'));
  const network = findAsset(asset) === undefined ? undefined : (findNetwork(chainId)?.name ?? chainId);
  return network === undefined ? tokenText(asset, units) : `${tokenText(asset, units)} on ${network}`;
}

/** The same without the network: `40.00 USDC`. An asset that nobody listed has no decimals that we know of. */
export function tokenText(asset: string, units: string | bigint): string {
  const known = findAsset(asset);
  if (known === undefined) return `${units} units of ${asset}`;
  return `${formatForPeople({ units: BigInt(units), decimals: known.decimals })} ${known.symbol}`;
}
