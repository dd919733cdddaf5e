import type { KnownAsset } from './network.ts';

/**
 * The assumed value of a whole token whose record has neither a peg nor a bound. It is deliberately high, because it decides how
 * much finality an amount needs. It is never used as an exchange rate.
 */
const UNKNOWN_WORTH = 100_000n;

type Weighed = Pick<KnownAsset, 'decimals' | 'peg' | 'worthAtMost'> | undefined;

/** The weight of an amount, rounded up: whole tokens of a pegged asset, or an upper bound of the value in units of a currency. */
export function weightOf(asset: Weighed, units: bigint): bigint {
  const { worth, one } = scaleOf(asset);
  return (units * worth + one - 1n) / one;
}

/** The weight of an amount, rounded down. An amount of less than one unit of weight has the weight zero. */
export function fullWeightOf(asset: Weighed, units: bigint): bigint {
  const { worth, one } = scaleOf(asset);
  return (units * worth) / one;
}

/** The smallest amount with this full weight. */
export function unitsOfWeight(asset: Weighed, weight: bigint): bigint {
  const { worth, one } = scaleOf(asset);
  return (weight * one + worth - 1n) / worth;
}

function scaleOf(asset: Weighed) {
  const worth = asset?.peg === undefined ? (asset?.worthAtMost ?? UNKNOWN_WORTH) : 1n;
  return { worth, one: 10n ** BigInt(asset?.decimals ?? 0) };
}
