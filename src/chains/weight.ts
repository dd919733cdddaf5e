import { findAsset } from './assets.ts';

/**
 * What a whole token is worth at the very most, in units of a currency, for assets that are pegged to none. It only decides
 * how careful to be with an amount, so it errs on the high side. It is never a rate.
 */
const WORTH_AT_MOST: Readonly<Record<string, bigint>> = {
  ETH: 10_000n,
  WETH: 10_000n,
  BNB: 2_500n,
  POL: 5n,
  WPOL: 5n,
};
const UNKNOWN_WORTH = 100_000n;

/** An amount in whole tokens of a pegged asset, rounded up; of any other asset, as many as it could be worth. */
export function weightOf(asset: string, units: bigint): bigint {
  const known = findAsset(asset);
  const worth = known?.peg === undefined ? (WORTH_AT_MOST[known?.symbol ?? ''] ?? UNKNOWN_WORTH) : 1n;
  const one = 10n ** BigInt(known?.decimals ?? 0);
  return (units * worth + one - 1n) / one;
}
