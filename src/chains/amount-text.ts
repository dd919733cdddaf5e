import { coinDecimals } from '../domain/addresses/families.ts';
import { formatDecimal, symbolText } from '../domain/money.ts';
import type { Coin, Network } from './network.ts';
import type { Registry } from './registry.ts';

/** An amount of an asset as people write it, with the network: `40.00 USDC on Base`. */
export function amountText(registry: Registry, asset: string, units: string | bigint): string {
  const chainId = asset.slice(0, asset.indexOf('/'));
  const text = tokenText(registry, asset, units);
  return termsOf(registry, asset) === undefined ? text : `${text} on ${registry.network(chainId)?.name ?? chainId}`;
}

/** An amount without the network: `40.00 USDC`. For an unknown token, in smallest units, as its decimals are unknown. */
export function tokenText(registry: Registry, asset: string, units: string | bigint): string {
  const terms = termsOf(registry, asset);
  if (terms === undefined) return `${units} units of ${asset}`;
  return symbolText({ units: BigInt(units), decimals: terms.decimals }, terms.symbol);
}

function termsOf(registry: Registry, asset: string): Pick<Coin, 'symbol' | 'decimals'> | undefined {
  const coin = registry.network(asset.slice(0, asset.indexOf('/')))?.coin;
  return registry.asset(asset) ?? (coin?.id === asset ? coin : unknownCoin(asset));
}

/** The coin of a network that is not in the registry. Its symbol is unknown, so it is called `coin`. */
function unknownCoin(asset: string): Pick<Coin, 'symbol' | 'decimals'> | undefined {
  const decimals = asset.includes('/slip44:') ? coinDecimals(asset) : undefined;
  return decimals === undefined ? undefined : { symbol: 'coin', decimals };
}

/** An amount of the coin of a network: `0.1 ETH on Base`. */
export function coinText({ coin, name }: Network, units: bigint): string {
  return `${symbolText({ units, decimals: coin.decimals }, coin.symbol)} on ${name}`;
}

/** An amount of a network's coin in a form for programs, as a decimal in whole coins: `0.1`. */
export function coinDecimal({ coin }: Pick<Network, 'coin'>, units: bigint): string {
  return formatDecimal({ units, decimals: coin.decimals });
}
