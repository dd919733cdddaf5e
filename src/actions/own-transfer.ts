import { assetsOf, findAsset } from '../chains/assets.ts';
import type { Incoming } from '../chains/chain.ts';
import { isSameAddress } from '../domain/caip.ts';

/** The payer and the money that a paid event names. */
export interface TakenMoney {
  readonly payer: string;
  readonly asset: string;
  readonly amount: bigint;
}

/**
 * True if the event may have taken money from one of these accounts, which only the holder of the account's key can cause. The
 * Collector accepts any token, and a stranger's token can name any payer, so only tokens that payments are made in count. `isMoved`
 * proves the transfer.
 */
export function hasLeft({ payer, asset, amount }: TakenMoney, own: readonly string[]): boolean {
  return isProving(asset) && amount > 0n && own.some((account) => isSameAddress(account, payer));
}

/** The assets whose events can prove a signature. Searches of stored events use them. */
export function provingAssets(network: string): string[] {
  return assetsOf(network).flatMap(({ id }) => (isProving(id) ? [id] : []));
}

function isProving(asset: string): boolean {
  return findAsset(asset)?.pay !== undefined;
}

/** True if the token's own transfer, or the transfer of the coin, shows that the money left the payer. */
export function isMoved({ payer, asset, amount }: TakenMoney, transfers: readonly Incoming[]): boolean {
  return transfers.some(
    (transfer) => transfer.asset === asset && transfer.amount === amount && isSameAddress(transfer.from, payer),
  );
}

/** The problem of a stranger's event that names an account of ours: the token reports no such transfer. */
export const NO_TRANSFER = 'no transfer';
