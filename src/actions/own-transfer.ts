import { assetsOf, findAsset } from '../chains/assets.ts';
import type { Chain } from '../chains/chain.ts';
import { hearTransfers } from './evidence.ts';

/** The part of a paid event that names whose money it took. */
export interface TakenMoney {
  readonly payer: string;
  readonly asset: string;
  readonly amount: bigint;
}

/**
 * True if the event may have taken money from one of these accounts, which only the holder of the account's key can cause.
 * The Collector takes any token, and a stranger's token lets anybody name any payer: only an amount of a token that payments
 * are made in counts. `isMoved` proves it.
 */
export function hasLeft({ payer, asset, amount }: TakenMoney, own: readonly string[]): boolean {
  return isProving(asset) && amount > 0n && own.some((account) => account.toLowerCase() === payer.toLowerCase());
}

/** The assets in which an event can prove a signature, for searches of stored events. */
export function provingAssets(network: string): string[] {
  return assetsOf(network).flatMap(({ id }) => (isProving(id) ? [id] : []));
}

function isProving(asset: string): boolean {
  return findAsset(asset)?.pay !== undefined;
}

/** True if the token itself, or the coin's own transfer, shows in that transaction that the money left the payer. */
export async function isMoved(
  chain: Chain,
  { payer, asset, amount }: TakenMoney,
  transactionHash: string,
): Promise<boolean> {
  const { transfers } = await hearTransfers(chain, transactionHash);
  return transfers.some(
    (transfer) =>
      transfer.asset === asset && transfer.amount === amount && transfer.from.toLowerCase() === payer.toLowerCase(),
  );
}
