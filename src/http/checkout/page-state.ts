import type { PageState, PaidInfo, PaymentPage, RefundPage } from '../../../web/src/checkout/page-state.ts';
import { CHECKOUT_APPS } from '../../actions/parties/open-checkout.ts';
import { depositAssets } from '../../actions/paying/deposit-assets.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { findShownById } from '../../actions/paying/shown-by-id.ts';
import { findFamily } from '../../chains/families.ts';
import { parseUnit } from '../../chains/units.ts';
import { acceptsOn } from '../../domain/accepted-assets.ts';
import { shownReference } from '../../domain/payment-link.ts';
import { findPaidInto } from '../../store/chain/deposit-progress.ts';
import type { ShownRefund } from '../../store/money/refunds.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { gatewayUrl, plainUrl } from '../entry/payment-id.ts';
import { receiptUrl } from '../receipts/receipt-url.ts';
import { viewToken } from '../views/amount.ts';
import { viewWithTransaction } from '../views/payer-info.ts';
import { viewStatus } from '../views/payment.ts';
import { viewOrder } from '../views/payment-details.ts';
import { viewForSigner } from '../views/signed-refund.ts';
import type { PageRenderer } from './page-bundle.ts';
import { explorerPath } from './transaction-link.ts';

export type Language = Pick<PageState, 'locale' | 'dir' | 'strings'>;

export function chooseLanguage(
  { pickLocale, LOCALES, STRINGS }: PageRenderer,
  asked: { readonly acceptLanguage: string | undefined; readonly lang: string | undefined },
): Language {
  const locale = pickLocale(asked.acceptLanguage, asked.lang);
  const strings = STRINGS[locale];
  if (strings === undefined) throw new Error(`The checkout page has no words for ${locale}.`);
  return { locale, dir: LOCALES[locale]?.dir ?? 'ltr', strings };
}

interface PageInput {
  readonly payment: Payment;
  readonly language: Language;
  readonly isEmbeddable: boolean;
  readonly pairing: PaymentPage['pairing'];
}

/** The settings for pairing a wallet by a code. Null if the operator has no project id, or if the payment accepts no served network. */
export function pairingFor({ config, chains }: HttpDeps, { mode, acceptedAssets }: Payment): PaymentPage['pairing'] {
  const { walletConnectProjectId: projectId, walletConnectRelayUrl: relayUrl } = config;
  const served = servedNetworks({ chains }, mode).map(({ chain }) => chain.network.chainId);
  const networks = served.filter((network) => acceptsOn(acceptedAssets, network));
  return projectId === undefined || networks.length === 0 ? null : { projectId, relayUrl, networks };
}

/** The initial state of the page: the data that the API gives, in one piece. */
export async function paymentPage(
  deps: HttpDeps,
  { payment, language, isEmbeddable, pairing }: PageInput,
): Promise<PaymentPage> {
  const { config, world } = deps;
  const nowMs = world.clock.nowMs();
  const { info, failureCode, isFinal } = viewStatus(config, payment, nowMs);
  const [forPayer, shown, sendable, paidInto] = await Promise.all([
    viewWithTransaction(deps, payment),
    findShownById(deps.db.sql, payment, nowMs),
    depositAssets(deps, payment),
    isFinal ? undefined : findPaidInto(deps.db.sql, payment.id),
  ]);
  const { successUrl, errorUrl } = payment;
  return {
    kind: 'payment',
    ...language,
    paymentId: payment.id,
    appId: CHECKOUT_APPS[payment.mode],
    gatewayUrl: gatewayUrl(config.publicUrl, payment.id),
    receiptUrl: shown.leadsToReceipt ? receiptUrl(deps, payment.id) : null,
    ...(config.qrLink === 'plain' && { qrUrl: plainUrl(config.publicUrl, payment.id) }),
    nowMs,
    payment: {
      ...forPayer,
      isFinal,
      info: info === null ? null : { ...info, explorerUrl: explorerOf(deps, info) },
      ...(failureCode !== undefined && { failureCode }),
    },
    checkout: successUrl === null || errorUrl === null ? null : { successUrl, errorUrl },
    referenceId: shown.isPublicId ? '' : shownReference(payment.referenceId),
    ...viewOrder(config, shown.details),
    sendable: sendable.map(({ asset, amount }) => viewToken(config, asset, amount.toString())),
    ...(paidInto !== undefined && { paidInto }),
    coins: coinsOf(deps, payment),
    sandbox: sandboxOf(deps, payment),
    pairing,
    ...(config.smtp !== undefined && shown.leadsToReceipt && { mailsReceipts: true }),
    embedder: isEmbeddable,
  };
}

export async function refundPage(
  deps: HttpDeps,
  { payment, refund, code, language }: { payment: Payment; refund: ShownRefund; code: string; language: Language },
): Promise<RefundPage> {
  const refundStrings = deps.page?.renderer.REFUND_STRINGS[language.locale];
  if (refundStrings === undefined) throw new Error(`The refund page has no words for ${language.locale}.`);
  return {
    kind: 'refund',
    ...language,
    appId: CHECKOUT_APPS[payment.mode],
    code,
    refund: await viewForSigner(deps, payment, refund),
    refundStrings,
    sandbox: sandboxOf(deps, payment),
  };
}

/**
 * The symbols of native coins, by network: of the configured networks of the payment's mode, or of all supported networks if none
 * is configured. In the second case nobody can pay, but the page is still shown.
 */
function coinsOf({ chains, registry }: HttpDeps, { mode }: Payment): PaymentPage['coins'] {
  const own = chains
    .list()
    .map(({ chain }) => chain.network)
    .filter((network) => network.mode === mode);
  const networks = (own.length > 0 ? own : registry.networks).filter(
    ({ chainId }) => findFamily(chainId) !== undefined,
  );
  return Object.fromEntries(networks.map(({ chainId, coin }) => [chainId, coin.symbol]));
}

function sandboxOf({ sandbox }: HttpDeps, { mode }: Payment): PaymentPage['sandbox'] {
  if (sandbox === undefined || mode === 'live') return null;
  return { rpcPath: '/sandbox/rpc', chainId: sandbox.chainId, blockViewPath: '/sandbox/tx' };
}

function explorerOf(deps: HttpDeps, { optionAmount, txId }: Omit<PaidInfo, 'explorerUrl'>): string | null {
  const unit = parseUnit(deps.registry, optionAmount.unit);
  return unit.ok && unit.value.token !== undefined ? explorerPath(deps, unit.value.token.chainId, txId) : null;
}
