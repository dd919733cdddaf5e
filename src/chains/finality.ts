import type { FinalityTag, Network } from './networks.ts';
import { weightOf } from './weight.ts';

/** An amount of an asset. */
interface Amount {
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly amount: string;
}

/** How deep a payment must lie; and, where a tag is named, no higher than the block of that tag. */
export interface FinalityNeeds {
  readonly depth: number;
  readonly tag: FinalityTag | undefined;
}

/** Of two tags, the stricter one. */
const STRICTNESS: readonly FinalityTag[] = ['safe', 'finalized'];

/** What a payment of this amount needs before it counts: the most that any of its tiers asks for. */
export function finalityOf({ finality }: Network, { asset, amount }: Amount): FinalityNeeds {
  const weight = weightOf(asset, BigInt(amount));
  const tiers = (finality?.tiers ?? []).filter(({ from }) => weight >= from);
  return {
    depth: Math.max(finality?.depth ?? 1, ...tiers.map((tier) => tier.depth ?? 0)),
    tag: STRICTNESS.findLast((tag) => tiers.some((tier) => tier.tag === tag)),
  };
}

/** An honest endpoint that is alone for an hour still takes what a shop sells. */
const DEFAULT_LONE_CEILING = 100n;

export function loneCeilingOf({ finality }: Network): bigint {
  return finality?.loneCeiling ?? DEFAULT_LONE_CEILING;
}

/** Whether so little is at stake that one endpoint alone is believed, at a greater depth. */
export function isSmall(network: Network, { asset, amount }: Amount): boolean {
  return weightOf(asset, BigInt(amount)) <= loneCeilingOf(network);
}
