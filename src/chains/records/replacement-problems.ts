import type { KnownAsset, Network } from '../network.ts';
import type { FiledNetwork } from './read-folder.ts';

/**
 * The problems of a file that replaces a built-in network. Old payments, books and receipts name its assets, so each of them keeps
 * its address, decimals and peg. An asset that is not to be offered stays in the file without `pay`.
 */
export function replacementProblems({ network, placeOf }: FiledNetwork, builtIn: Network | undefined): string[] {
  if (builtIn === undefined) return [];
  const own = tokensOf(network);
  const problems = [...modeProblems(network, builtIn, placeOf), ...coinProblems(network, builtIn, placeOf)];
  for (const known of tokensOf(builtIn)) {
    const kept = own.findIndex(({ id }) => id === known.id);
    const namesake = own.findIndex(({ symbol }) => symbol === known.symbol);
    if (kept !== -1) {
      problems.push(...changes(own[kept], known, (field) => placeOf(['tokens', kept, field])));
    } else if (namesake !== -1) {
      const place = placeOf(['tokens', namesake, 'address']);
      problems.push(
        `${place} is not that of the built-in ${known.symbol}, ${addressOf(known)}. Give your token another symbol`,
      );
    } else {
      const way = 'Payments may name it: keep it, without pay if it is not to be offered';
      problems.push(`${placeOf(['tokens'])} lacks the built-in ${known.symbol}, ${addressOf(known)}. ${way}`);
    }
  }
  return problems;
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

function changes(kept: KnownAsset | undefined, known: KnownAsset, placeOf: (field: string) => string): string[] {
  const problems: string[] = [];
  if (kept?.decimals !== known.decimals) {
    problems.push(`${placeOf('decimals')} must be ${known.decimals}, as in the built-in record`);
  }
  if (kept?.peg !== known.peg) {
    const way = known.peg === undefined ? 'must be left out' : `must be ${known.peg}`;
    problems.push(`${placeOf('peg')} ${way}, as in the built-in record`);
  }
  return problems;
}

function addressOf({ id }: KnownAsset): string {
  return id.slice(id.lastIndexOf(':') + 1);
}
