import type { Finality, FinalityTag, FinalityTier, Network } from './network.ts';
import type { RegistryDeps } from './registry.ts';
import { weightOf } from './weight.ts';

interface Amount {
  /** An asset of any network: the address of a payment can hold money on another network than the one that was asked for. */
  readonly asset: string;
  /** The amount in the smallest unit, as a decimal integer. */
  readonly amount: string;
}

/** The depth that a payment needs. With a tag, the payment's block must also be no higher than the tagged block. */
export interface FinalityNeeds {
  readonly depth: number;
  readonly tag: FinalityTag | undefined;
}

/** The finality tags, the strictest last. If tiers have different tags, the stricter one applies. */
const STRICTNESS: readonly FinalityTag[] = ['safe', 'finalized'];

/** The finality that a network asks for money of this amount: the strictest requirement of all tiers that the amount reaches. */
export function finalityOf(deps: RegistryDeps, { finality }: Network, money: Amount): FinalityNeeds {
  const weight = weightIn(deps, money);
  return needsOf(
    finality,
    (finality?.tiers ?? []).filter(({ from }) => weight >= from),
  );
}

/** The finality of the largest amounts. */
export function strictestFinality({ finality }: Network): FinalityNeeds {
  return needsOf(finality, finality?.tiers ?? []);
}

function needsOf(finality: Finality | undefined, tiers: readonly FinalityTier[]): FinalityNeeds {
  return {
    depth: Math.max(finality?.depth ?? 1, ...tiers.map((tier) => tier.depth ?? 0)),
    tag: STRICTNESS.findLast((tag) => tiers.some((tier) => tier.tag === tag)),
  };
}

const DEFAULT_BLOCK_MS = 2_000;

/** The usual time between two blocks. If the network's record does not have it, the network counts as a fast one. */
export function blockTimeOf(network: Pick<Network, 'finality'> | undefined): number {
  return network?.finality?.blockTimeMs ?? DEFAULT_BLOCK_MS;
}

/** The time that is allowed for a tag. Networks take up to a quarter of an hour until a block is `safe` or `finalized`. */
const TAG_MS = 30 * 60_000;

/** The time until a new block has this depth and tag, if its network makes blocks `slack` times more slowly than usual. */
export function finalityMs(network: Network, { depth, tag }: FinalityNeeds, slack = 1): number {
  return slack * depth * blockTimeOf(network) + (tag === undefined ? 0 : TAG_MS);
}

/**
 * The default weight (`weight.ts`) up to which one endpoint is enough. A shop's usual payments then still succeed if only one
 * endpoint answers.
 */
const DEFAULT_LONE_CEILING = 100n;

export function loneCeilingOf({ finality }: Network): bigint {
  return finality?.loneCeiling ?? DEFAULT_LONE_CEILING;
}

/** True if the amount is small enough to rely on a single endpoint of this network, at a greater depth. */
export function isSmall(deps: RegistryDeps, network: Network, money: Amount): boolean {
  return weightIn(deps, money) <= loneCeilingOf(network);
}

/**
 * The weight of an amount. The asset is looked up in the registry of all networks. A network's own list lacks assets of other
 * networks, and an unknown asset has the greatest weight.
 */
function weightIn({ registry }: RegistryDeps, { asset, amount }: Amount): bigint {
  return weightOf(registry.asset(asset), BigInt(amount));
}
