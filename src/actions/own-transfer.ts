import type { Incoming } from '../chains/chain-reader.ts';
import { assetsOf, type Registry } from '../chains/registry.ts';
import { isSameAddress } from '../domain/addresses/families.ts';

/** The payer and the money that an event of the type `paid` names. */
export interface TakenMoney {
  readonly payer: string;
  readonly asset: string;
  readonly amount: bigint;
}

/**
 * True if the event may have taken money from one of these accounts, which only the holder of the account's key can cause. The Collector
 * accepts any token, and a stranger's token can name any payer. Therefore an event counts only if payments can be made in its asset.
 * `isMoved` proves the transfer.
 */
export function hasLeft(registry: Registry, { payer, asset, amount }: TakenMoney, own: readonly string[]): boolean {
  return isProving(registry, asset) && amount > 0n && own.some((account) => isSameAddress(asset, account, payer));
}

/** The assets whose events can prove that an account of ours has signed. Searches of stored events are limited to them. */
export function provingAssets(registry: Registry, network: string): string[] {
  return assetsOf(registry, network).flatMap(({ id }) => (isProving(registry, id) ? [id] : []));
}

function isProving(registry: Registry, asset: string): boolean {
  return registry.asset(asset)?.pay !== undefined;
}

/** True if the token's own transfer, or the transfer of the coin, shows that the money left the payer. */
export function isMoved({ payer, asset, amount }: TakenMoney, transfers: readonly Incoming[]): boolean {
  return transfers.some(
    (transfer) => transfer.asset === asset && transfer.amount === amount && isSameAddress(asset, transfer.from, payer),
  );
}

/**
 * The problem stored with an event that names one of our accounts, but without a transfer of the token: a stranger has caused the event.
 */
export const NO_TRANSFER = 'no transfer';
