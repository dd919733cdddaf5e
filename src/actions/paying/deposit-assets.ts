import type { ConnectedChain } from '../../chains/chains.ts';
import { fullWeightOf } from '../../chains/weight.ts';
import { LEAST_LEFT_MS } from '../../domain/deposit.ts';
import { visibleStatus } from '../../domain/payment.ts';
import { type Payment, stateOf } from '../../store/payments/payments.ts';
import type { CommandDeps } from '../command.ts';
import { findStockFor } from './links/link-stock.ts';
import { type PayableAsset, payableAssets } from './payable-assets.ts';
import { openNetworks } from './served-networks.ts';
import type { OptionDeps } from './terms-in-force.ts';

export interface DepositSettings {
  /**
   * The smallest payment to a deposit address, in whole tokens, because a sweep costs gas. Undefined if the network has no deposit
   * addresses.
   */
  minimum(network: string): bigint | undefined;
}

export type DepositAssetDeps = OptionDeps & Pick<CommandDeps, 'db'> & { readonly deposits: DepositSettings };

/** The smallest amount that is too large: the contract stores requested amounts in 16 bytes. */
const MAX_AMOUNT = 2n ** 128n;

/** The reason why an asset cannot be sent to a deposit address. */
export type Unsendable =
  | { readonly is: 'not_at_par' | 'no_addresses' | 'too_much' }
  | { readonly is: 'too_little'; readonly minimum: bigint };

/**
 * The reason why the asset cannot be sent to a deposit address of this network. Undefined if it can be sent: it is a token at par with
 * the price, and its amount is not below the minimum.
 */
export function whyUnsendable(
  deps: DepositAssetDeps,
  { chain }: ConnectedChain,
  { asset, quote }: PayableAsset,
): Unsendable | undefined {
  if (asset.pay.method === 'native' || quote.rate !== null) return { is: 'not_at_par' };
  const minimum = deps.deposits.minimum(chain.network.chainId);
  if (minimum === undefined || chain.payerSide.depositContract() === undefined) return { is: 'no_addresses' };
  if (fullWeightOf(deps.registry.asset(asset.id), quote.amount) < minimum) return { is: 'too_little', minimum };
  return quote.amount >= MAX_AMOUNT ? { is: 'too_much' } : undefined;
}

/**
 * True if the payment's link has a stock. Such a payment has no deposit address, because a transfer cannot be refused when the last piece
 * is gone.
 */
export async function hasStock({ db }: Pick<CommandDeps, 'db'>, payment: Payment): Promise<boolean> {
  return (await findStockFor(db.sql, payment)) !== undefined;
}

/** The tokens that can be sent to a deposit address of the payment now, with their amounts. */
export async function depositAssets(
  deps: DepositAssetDeps,
  payment: Payment,
): Promise<readonly { readonly asset: string; readonly amount: bigint }[]> {
  const nowMs = deps.world.clock.nowMs();
  const isOpen = visibleStatus(stateOf(payment), nowMs) === 'requires_action';
  if (!isOpen || payment.expiresAt.getTime() - nowMs < LEAST_LEFT_MS) return [];
  const [networks, isOnStock] = await Promise.all([openNetworks(deps, payment.mode), hasStock(deps, payment)]);
  if (isOnStock) return [];
  return networks.flatMap((connected) =>
    payableAssets(deps, payment, connected)
      .filter((payable) => whyUnsendable(deps, connected, payable) === undefined)
      .map(({ asset, quote }) => ({ asset: asset.id, amount: quote.amount })),
  );
}
