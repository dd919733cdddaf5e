import type { FinalityTag, Network } from './network.ts';
import { type Weighed, weightOf } from './weight.ts';

interface Amount {
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly amount: string;
}

/** The depth that a payment needs. With a tag, the payment's block must also be no higher than the tagged block. */
export interface FinalityNeeds {
  readonly depth: number;
  readonly tag: FinalityTag | undefined;
}

/** In ascending order. If tiers have different tags, the stricter one applies. */
const STRICTNESS: readonly FinalityTag[] = ['safe', 'finalized'];

/**
 * The finality for a payment of this amount: the strictest requirement of all tiers that the amount reaches. Pass `known` if the asset
 * may be of another network: a deposit address can hold money on this network for a payment on another.
 */
export function finalityOf(
  network: Network,
  { asset, amount }: Amount,
  known: Weighed = network.assets.get(asset),
): FinalityNeeds {
  const { finality } = network;
  const weight = weightOf(known, BigInt(amount));
  const tiers = (finality?.tiers ?? []).filter(({ from }) => weight >= from);
  return {
    depth: Math.max(finality?.depth ?? 1, ...tiers.map((tier) => tier.depth ?? 0)),
    tag: STRICTNESS.findLast((tag) => tiers.some((tier) => tier.tag === tag)),
  };
}

/** The default limit. A shop's usual payments still succeed if only one endpoint answers. */
const DEFAULT_LONE_CEILING = 100n;

export function loneCeilingOf({ finality }: Network): bigint {
  return finality?.loneCeiling ?? DEFAULT_LONE_CEILING;
}

/** True if the amount is small enough to rely on a single endpoint, at a greater depth. `known` as for `finalityOf`. */
export function isSmall(
  network: Network,
  { asset, amount }: Amount,
  known: Weighed = network.assets.get(asset),
): boolean {
  return weightOf(known, BigInt(amount)) <= loneCeilingOf(network);
}
