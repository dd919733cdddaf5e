import type { KnownAsset, Network } from '../network.ts';
import type { FiledNetwork } from './read-folder.ts';

/**
 * The problems of a file that replaces a built-in network. Old payments, books and receipts name the network's assets, so each
 * asset keeps its address and decimals. An asset that is not to be offered stays in the file as retired.
 */
export function replacementProblems({ network, placeOf }: FiledNetwork, builtIn: Network | undefined): string[] {
  if (builtIn === undefined) return [];
  const own = tokensOf(network);
  const problems = [...modeProblems(network, builtIn, placeOf), ...coinProblems(network, builtIn, placeOf)];
  for (const known of tokensOf(builtIn)) {
    const kept = own.findIndex(({ id }) => id === known.id);
    if (kept === -1) {
      const way = 'Payments may name it: keep it, with "retired": true if it is not to be offered';
      problems.push(`${placeOf(['tokens'])} lacks the built-in ${known.symbol}, ${addressOf(known)}. ${way}`);
    } else if (own[kept]?.decimals !== known.decimals) {
      problems.push(`${placeOf(['tokens', kept, 'decimals'])} must be ${known.decimals}, as in the built-in record`);
    }
  }
  return problems;
}

/**
 * A token of the operator's file that replaces a built-in one: the same token with another peg, or another token with the same
 * symbol. An operator has to accept it.
 */
export interface Replacement {
  /** The token of the file. */
  readonly asset: KnownAsset;
  readonly builtIn: KnownAsset;
}

export function replacementsOf({ network }: FiledNetwork, builtIn: Network | undefined): Replacement[] {
  if (builtIn === undefined) return [];
  const known = tokensOf(builtIn);
  return tokensOf(network).flatMap((asset) => {
    const same = known.find(({ id }) => id === asset.id);
    if (same !== undefined) return same.peg === asset.peg ? [] : [{ asset, builtIn: same }];
    const namesake = asset.isRetired ? undefined : known.find(({ symbol }) => symbol === asset.symbol);
    return namesake === undefined ? [] : [{ asset, builtIn: namesake }];
  });
}

function tokensOf({ assets, coin }: Network): KnownAsset[] {
  return [...assets.values()].filter(({ id }) => id !== coin.id);
}

function modeProblems({ mode }: Network, builtIn: Network, placeOf: FiledNetwork['placeOf']): string[] {
  return mode === builtIn.mode ? [] : [`${placeOf(['mode'])} must be ${builtIn.mode}, as in the built-in record`];
}

function coinProblems({ coin, assets }: Network, builtIn: Network, placeOf: FiledNetwork['placeOf']): string[] {
  if (coin.id !== builtIn.coin.id) {
    return [`${placeOf(['coin', 'slip44'])} must be ${builtIn.coin.id.replace(/^.*:/, '')}, as in the built-in record`];
  }
  if (!builtIn.assets.has(coin.id) || assets.has(coin.id)) return [];
  return [
    `${placeOf(['coin', 'quoteDecimals'])} is missing. The built-in ${coin.symbol} has it, and payments may name the coin`,
  ];
}

function addressOf({ id }: KnownAsset): string {
  return id.slice(id.lastIndexOf(':') + 1);
}
