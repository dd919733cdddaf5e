import { findAsset } from './assets.ts';

/**
 * Upper bounds for the value of a whole token, in units of a currency, for assets without a peg. They only decide how
 * much finality an amount needs, so they err on the high side. They are never used as rates.
 */
const WORTH_AT_MOST: Readonly<Record<string, bigint>> = {
  ETH: 10_000n,
  WETH: 10_000n,
  BNB: 2_500n,
  POL: 5n,
  WPOL: 5n,
};
const UNKNOWN_WORTH = 100_000n;

/**
 * An amount in whole tokens of a pegged asset, rounded up; of any other asset, its upper bound in units of a currency.
 */
export function weightOf(asset: string, units: bigint): bigint {
  const { worth, one } = scaleOf(asset);
  return (units * worth + one - 1n) / one;
}

/** The same rounded down: of less than one token it is nothing. */
export function fullWeightOf(asset: string, units: bigint): bigint {
  const { worth, one } = scaleOf(asset);
  return (units * worth) / one;
}

/** The least units whose full weight is so much. */
export function unitsOfWeight(asset: string, weight: bigint): bigint {
  const { worth, one } = scaleOf(asset);
  return (weight * one + worth - 1n) / worth;
}

function scaleOf(asset: string) {
  const known = findAsset(asset);
  const worth = known?.peg === undefined ? (WORTH_AT_MOST[known?.symbol ?? ''] ?? UNKNOWN_WORTH) : 1n;
  return { worth, one: 10n ** BigInt(known?.decimals ?? 0) };
}
