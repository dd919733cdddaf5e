import { isDeepStrictEqual } from 'node:util';
import { type Chains, type ConnectedChain, isIntermediate } from '../../chains/chains.ts';
import { parseAccount } from '../../domain/caip.ts';
import { coversFee, feeOf, fixedFeeOf, termsInForce } from '../../domain/fees.ts';
import type { KeyRing } from '../../domain/key-ring.ts';
import { areTimesPossible, isPast, type Option } from '../../domain/option.ts';
import { feeInToken } from '../../domain/quote.ts';
import type { World } from '../../runtime/world.ts';
import type { Screening } from '../../screening/screening.ts';
import type { DestinationReader } from '../../store/parties/destinations.ts';
import type { NetworkStop } from '../../store/parties/freezes.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { FreshCache } from '../../store/plumbing/fresh-cache.ts';
import type { SubjectKeyDeps } from '../subject-keys.ts';
import { belowFees, merchantStopped, noExecutor, quoteExpired } from './option-refusals.ts';
import { type PayableAsset, type QuoteDeps, quoteAgain } from './payable-assets.ts';
import type { Rehearsal } from './rehearsal.ts';
import { servedNetworks } from './served-networks.ts';

/** The recipients and the fee of a payment by the present settings. */
export interface Terms {
  /** True if the merchant is suspended or frozen. Nothing is offered or accepted then. */
  readonly isStopped: boolean;
  /** True if the fee was raised above the price since the payment was created. Nothing is offered or accepted then. */
  readonly isBelowFees: boolean;
  /** The fee, in the unit of the price. */
  readonly pricedFee: bigint;
  /** The part of the fee that is a percentage, as a decimal. The fixed part is `pricedFixedFee`, in the unit of the price. */
  readonly percentage: string;
  readonly pricedFixedFee: bigint;
  /**
   * The recipient of the asset: the merchant's own destination, or else the intermediate account, which holds the money for the merchant.
   */
  recipientOf(connected: ConnectedChain, asset: string): string;
}

export interface TermsDeps {
  readonly world: World;
  readonly merchants: FreshCache<PayableMerchant>;
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
    isBelowFees: isBelowFees(deps, merchant, payment),
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

/** True if the price does not cover the present fees: a payment with this price would not be created any more. */
export function isBelowFees(
  { world }: Pick<TermsDeps, 'world'>,
  merchant: PayableMerchant | undefined,
  { amountUnit, amountValue }: Payment,
): boolean {
  return !coversFee(termsInForce(merchant?.fees ?? [], world.clock.nowMs()), amountUnit, BigInt(amountValue));
}

export interface OptionDeps extends TermsDeps, QuoteDeps, SubjectKeyDeps {
  readonly chains: Chains;
  readonly screening: Screening;
  readonly optionKeys: KeyRing;
  readonly rehearsal: Rehearsal;
}

/** The promise of an option: payer, recipient, amount, and the parts of the fee. */
export type Promised = Pick<Option, 'item' | 'pricedFee' | 'feeTerms'>;

export interface PromiseInput {
  readonly payment: Payment;
  readonly terms: Terms;
  readonly connected: ConnectedChain;
  readonly payable: PayableAsset;
  readonly payer: string;
  readonly deadlineS: number;
}

/** The promise of an option with these terms. Undefined while the network has no Collector. */
export function promiseOf({ payment, terms, connected, payable, ...input }: PromiseInput): Promised | undefined {
  const { chain, feeAccount } = connected;
  const { asset, quote } = payable;
  const collector = chain.payerSide.collector();
  if (collector === undefined) return undefined;
  return {
    item: {
      network: chain.network.chainId,
      collector,
      asset: asset.id,
      method: asset.pay.method,
      subject: payment.id,
      payer: input.payer,
      recipient: terms.recipientOf(connected, asset.id),
      feeAccount,
      amount: quote.amount,
      fee: feeInToken(quote, terms.pricedFee),
      deadlineS: input.deadlineS,
    },
    pricedFee: terms.pricedFee,
    feeTerms: { percentage: terms.percentage, fixed: feeInToken(quote, terms.pricedFixedFee).toString() },
  };
}

/**
 * Refuses an option that would not be offered now: its network is not served any more, it has expired, its asset, recipient or fee
 * has changed, or its merchant or network is stopped. Returns the network of a valid option. The whole promise is recomputed from
 * the payment and the rates that were in force, so that even a stolen option key cannot set another price.
 */
export async function refuseOutdated(deps: OptionDeps, payment: Payment, option: Option): Promise<ConnectedChain> {
  const { item, pricedFee, feeTerms } = option;
  const connected = servedNetworks(deps, payment.mode).find(({ chain }) => chain.network.chainId === item.network);
  if (connected === undefined) throw noExecutor();
  const [terms, network] = await Promise.all([readTerms(deps, payment), deps.networkStops.get(item.network)]);
  if (terms.isStopped) throw merchantStopped();
  if (terms.isBelowFees) throw belowFees();
  if (network?.isFrozen) throw noExecutor();
  const nowMs = deps.world.clock.nowMs();
  if (isPast(option, nowMs)) throw quoteExpired();
  const payable = connected.payable().includes(item.asset) ? quoteAgain(deps, payment, option) : undefined;
  const { payer, deadlineS } = item;
  const asked = asOffered(connected, item.recipient);
  const promised = payable && promiseOf({ payment, terms, connected: asked, payable, payer, deadlineS });
  const account = parseAccount(option.account);
  const isInForce =
    isDeepStrictEqual(promised, { item, pricedFee, feeTerms }) &&
    areTimesPossible(option, { nowMs, paymentExpiresAtS: payment.expiresAt.getTime() / 1000 }) &&
    account.ok &&
    account.value.chainId === item.network &&
    account.value.address === payer;
  if (!isInForce) throw quoteExpired();
  return connected;
}

/**
 * The chain with the intermediate account that the option names. While that account is being replaced, some nodes offer the earlier
 * account and others the new one. Both are good on every node that has both keys.
 */
function asOffered(connected: ConnectedChain, recipient: string): ConnectedChain {
  return isIntermediate(connected, recipient) ? { ...connected, intermediateAccount: recipient } : connected;
}
