import type { FinalityTag, Network } from './networks.ts';
import { weightOf } from './weight.ts';

/** An amount of an asset. */
interface Amount {
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly amount: string;
}

/** The depth that a payment needs. With a tag, its block must also be no higher than the tagged block. */
export interface FinalityNeeds {
  readonly depth: number;
  readonly tag: FinalityTag | undefined;
}

/** In rising order: of two tags the stricter one applies. */
const STRICTNESS: readonly FinalityTag[] = ['safe', 'finalized'];

/** The finality of a payment of this amount: the strictest of its tiers. */
export function finalityOf({ finality }: Network, { asset, amount }: Amount): FinalityNeeds {
  const weight = weightOf(asset, BigInt(amount));
  const tiers = (finality?.tiers ?? []).filter(({ from }) => weight >= from);
  return {
    depth: Math.max(finality?.depth ?? 1, ...tiers.map((tier) => tier.depth ?? 0)),
    tag: STRICTNESS.findLast((tag) => tiers.some((tier) => tier.tag === tag)),
  };
}

/** The default limit. With one honest endpoint for an hour, a shop's usual payments still succeed. */
const DEFAULT_LONE_CEILING = 100n;

export function loneCeilingOf({ finality }: Network): bigint {
  return finality?.loneCeiling ?? DEFAULT_LONE_CEILING;
}

/** True if the amount is small enough for the word of a single endpoint, at a greater depth. */
export function isSmall(network: Network, { asset, amount }: Amount): boolean {
  return weightOf(asset, BigInt(amount)) <= loneCeilingOf(network);
}
