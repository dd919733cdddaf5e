import { createHash } from 'node:crypto';
import type { KnownAsset, Network } from '../network.ts';

/**
 * The stored facts of a network that was used. If one of them changed, stored payments would refer to another chain or amount.
 */
export interface NetworkFacts {
  readonly name: string;
  readonly mode: Network['mode'];
  /** CAIP-19 of the coin, with its SLIP-44 number. */
  readonly coin: string;
  readonly coinSymbol: string;
  readonly coinDecimals: number;
  /** The hash of block 0. Null until two endpoints have shown it. */
  readonly genesis: string | null;
}

/** The stored facts of a token, or of a coin that can be paid with. */
export interface AssetFacts {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly peg: string | null;
}

export function networkFacts({ name, mode, coin }: Network, genesis: string | null): NetworkFacts {
  return { name, mode, coin: coin.id, coinSymbol: coin.symbol, coinDecimals: coin.decimals, genesis };
}

export function assetFacts({ name, symbol, decimals, peg }: KnownAsset): AssetFacts {
  return { name, symbol, decimals, peg: peg ?? null };
}

/**
 * The hash of each record, by CAIP-2 id. Nodes compare these hashes. Names, pictures, explorers and reasons do not count, because
 * no amount and no decision depends on them.
 */
export function recordHashes(networks: readonly Network[]): Readonly<Record<string, string>> {
  return Object.fromEntries(networks.map((network) => [network.chainId, recordHash(network)]));
}

const HASH_LENGTH = 16;

function recordHash({ name: _name, explorer: _explorer, places: _places, coin, finality, assets, ...rest }: Network) {
  const { reason: _reason, ...depths } = finality ?? { reason: '' };
  const tokens = [...assets.values()].map(({ name: _, ...asset }) => asset);
  const counted = { ...rest, coin: [coin.id, coin.decimals], depths, tokens: tokens.toSorted(byId) };
  return createHash('sha256').update(canonical(counted)).digest('hex').slice(0, HASH_LENGTH);
}

function byId(one: KnownAssetRow, other: KnownAssetRow): number {
  return one.id < other.id ? -1 : 1;
}

type KnownAssetRow = Pick<KnownAsset, 'id'>;

/** A text of the facts that is the same for any order of the fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}
