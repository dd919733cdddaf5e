import type { ConnectedChain } from '../../chains/chains.ts';
import { isOffered, type KnownAsset, type OfferedAsset } from '../../chains/network.ts';
import { assetsOf, isTestNetwork, type Registry, type RegistryDeps } from '../../chains/registry.ts';
import { isFiatUnit, tokenUnitId, type Unit } from '../../chains/units.ts';
import { type AcceptedAssets, accepts } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Option } from '../../domain/option.ts';
import { type Price, type Quote, quoteFor, ratePairOf } from '../../domain/quote.ts';
import { readRateRecord } from '../../domain/rate.ts';
import type { Rates } from '../../rates/rates.ts';
import type { World } from '../../runtime/world.ts';
import type { Payment } from '../../store/payments/payments.ts';
import { type ServingDeps, servedNetworks } from './served-networks.ts';

export interface PayableAsset {
  readonly asset: OfferedAsset;
  readonly quote: Quote;
}

export interface QuoteDeps extends RegistryDeps {
  readonly rates: Rates;
  readonly world: World;
}

/** The assets of a network that the payment can be paid with now: accepted, verified on their chain, and with a quote. */
export function payableAssets(deps: QuoteDeps, payment: Payment, connected: ConnectedChain): readonly PayableAsset[] {
  const price = priceOf(payment);
  return connected.payable().flatMap((id) => {
    const asset = acceptedAsset(deps.registry, payment, id);
    if (asset === undefined) return [];
    const pair = ratePairOf(price, asset);
    const rate = pair && deps.rates.rateOf(pair.base, pair.quote, deps.world.clock.nowMs());
    const quote = quoteFor({ price, asset, rate });
    return quote === undefined ? [] : [{ asset, quote }];
  });
}

/**
 * Quotes the payment again from the terms of an option: the payment's price, the known facts about the asset, and the recorded
 * rate, which must have been in force a short time ago. Undefined if these terms were never offered.
 */
export function quoteAgain(
  deps: QuoteDeps,
  payment: Payment,
  { item, quote: record }: Pick<Option, 'item' | 'quote'>,
): PayableAsset | undefined {
  const price = priceOf(payment);
  const asset = acceptedAsset(deps.registry, payment, item.asset);
  if (asset === undefined) return undefined;
  const pair = ratePairOf(price, asset);
  const rate = readRateRecord(record);
  const isRightRate =
    pair === undefined
      ? record === null
      : rate?.base === pair.base && rate.quote === pair.quote && deps.rates.wasInForce(rate, deps.world.clock.nowMs());
  if (!isRightRate) return undefined;
  const quote = quoteFor({ price, asset, rate: rate && { ...rate, readings: [] } });
  return quote && { asset, quote };
}

/**
 * The asset, if it is offered and the payment accepts it. Every way to pay goes through this function, so no way offers or takes an asset
 * that is not accepted.
 */
function acceptedAsset(registry: Registry, { acceptedAssets }: Payment, id: string): PayableAsset['asset'] | undefined {
  const asset = registry.asset(id);
  return asset !== undefined && isOffered(asset) && accepts(acceptedAssets, id) ? asset : undefined;
}

function priceOf({ amountUnit, amountValue, amountDecimals }: Payment): Price {
  return { unit: amountUnit, value: BigInt(amountValue), decimals: amountDecimals };
}

/** The tokens of these networks that the payment can be paid with now, as text for the payer. */
export function acceptedTokens(
  deps: QuoteDeps,
  payment: Payment,
  { networks, takesCoin }: { readonly networks: readonly ConnectedChain[]; readonly takesCoin: boolean },
) {
  return networks.flatMap((connected) =>
    payableAssets(deps, payment, connected)
      .filter(({ asset }) => takesCoin || asset.pay.method !== 'native')
      .map(({ asset }) => ({ symbol: asset.symbol, networkName: connected.chain.network.name })),
  );
}

export interface AskedUnit {
  readonly mode: Mode;
  readonly unit: Unit;
  readonly accepted?: AcceptedAssets;
  /** True if native coin can pay. False for a link with a stock. */
  readonly takesCoin?: boolean;
}

/**
 * The reason why no payment in this unit could ever be paid; undefined if one could. Only the configuration counts (networks, their
 * assets, the pairs of the rate sources), so that an outage stops no creation. Also undefined for a test key that prices in live assets,
 * and for a mode without any network, because partners may build against a mode that is not set up yet.
 */
export function unpayableReason(
  deps: ServingDeps & Pick<QuoteDeps, 'rates' | 'registry'>,
  { mode, unit, accepted = null, takesCoin = true }: AskedUnit,
): string | undefined {
  const networks = servedNetworks(deps, mode);
  const isElsewhere = mode === 'test' && unit.token !== undefined && !isTestNetwork(deps.registry, unit.token.chainId);
  if (networks.length === 0 || isElsewhere) return undefined;
  const isPayable = networks.some(({ chain: { network } }) =>
    assetsOf(deps.registry, network.chainId).some(
      (asset) =>
        isOffered(asset) &&
        (takesCoin || asset.pay.method !== 'native') &&
        accepts(accepted, asset.id) &&
        couldQuote(deps.rates, unit.id, asset),
    ),
  );
  if (isPayable) return undefined;
  return unit.token === undefined
    ? `is ${unit.symbol}, which nobody could pay here: no token of the networks in use is worth it, and no rate source has a rate for it`
    : 'names an asset that nobody could pay with here: its network is not in use, or it is retired, or it can only be a destination';
}

function couldQuote(rates: Rates, unit: string, asset: KnownAsset): boolean {
  if (!isFiatUnit(unit)) return unit === tokenUnitId(asset.id);
  const pair = ratePairOf({ unit }, asset);
  return pair === undefined || rates.covers(pair.base, pair.quote);
}
