import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import { parseAccount } from '../../domain/caip.ts';
import { feeOf, fixedFeeOf, termsInForce } from '../../domain/fees.ts';
import { isPast, type Option } from '../../domain/option.ts';
import type { World } from '../../runtime/world.ts';
import type { Screening } from '../../screening/screening.ts';
import type { DestinationReader } from '../../store/parties/destinations.ts';
import type { NetworkStop } from '../../store/parties/freezes.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { FreshCache } from '../../store/plumbing/fresh-cache.ts';
import { merchantStopped, noExecutor, quoteExpired } from './option-refusals.ts';

/** The recipients and the fee of a payment, by the settings in force. */
export interface Terms {
  /** True if the merchant is suspended or frozen: nothing is offered or accepted. */
  readonly isStopped: boolean;
  /** In the unit of the price. */
  readonly pricedFee: bigint;
  /** The parts of the fee: a decimal percent, and an amount in the unit of the price. */
  readonly percentage: string;
  readonly pricedFixedFee: bigint;
  /** The merchant's own destination for the asset; without one the operator keeps the money for it. */
  recipientOf(connected: ConnectedChain, asset: string): string;
}

export interface TermsDeps {
  readonly world: World;
  readonly merchants: FreshCache<PayableMerchant>;
  /** Whether a network is frozen. */
  readonly networkStops: FreshCache<NetworkStop>;
  readonly readDestinations: DestinationReader;
}

export async function readTerms(deps: TermsDeps, payment: Payment): Promise<Terms> {
  const [merchant, destinations] = await Promise.all([
    deps.merchants.get(payment.merchantId),
    deps.readDestinations(payment.merchantId),
  ]);
  const { amountUnit } = payment;
  const amount = BigInt(payment.amountValue);
  const fees = termsInForce(merchant?.fees ?? [], deps.world.clock.nowMs());
  return {
    isStopped: merchant?.isStopped ?? false,
    pricedFee: feeOf(fees, amountUnit, amount),
    percentage: fees.percentage,
    pricedFixedFee: fixedFeeOf(fees, amountUnit, amount),
    recipientOf({ intermediateAccount }, asset) {
      const destination = destinations.get(asset);
      if (destination === undefined) return intermediateAccount;
      const account = parseAccount(destination);
      if (!account.ok) throw new Error('A stored destination is not an account.');
      return account.value.address;
    },
  };
}

/** The inputs for checking an option. */
export interface OptionDeps extends TermsDeps {
  readonly chains: Chains;
  readonly screening: Screening;
  readonly optionSecret: Uint8Array;
}

/**
 * Refuses an option that would not be offered now: its network is not served any more, it has expired, or its asset,
 * recipient or fee has changed; or its merchant or network is stopped. Returns the network of a valid one.
 */
export async function refuseOutdated(deps: OptionDeps, payment: Payment, option: Option): Promise<ConnectedChain> {
  const { item, pricedFee } = option;
  const connected = deps.chains.find(item.network);
  if (connected === undefined || connected.relayers.length === 0) throw noExecutor();
  const [terms, network] = await Promise.all([readTerms(deps, payment), deps.networkStops.get(item.network)]);
  if (terms.isStopped) throw merchantStopped();
  if (network?.isFrozen) throw noExecutor();
  if (isPast(option, deps.world.clock.nowMs())) throw quoteExpired();
  const isInForce =
    connected.payable().includes(item.asset) &&
    item.recipient === terms.recipientOf(connected, item.asset) &&
    item.feeAccount === connected.feeAccount &&
    pricedFee === terms.pricedFee;
  if (!isInForce) throw quoteExpired();
  return connected;
}
