import type { QrShape } from '../shared/qr.ts';
import type { AcceptedToken, Deposit, GatewayOption } from './api.ts';
import type { PaymentView } from './page-state.ts';
import type { WalletCard } from './wallets.ts';

/** The state of the checkout. The page is rendered from it alone. */
export interface Flow {
  readonly payment: PaymentView;
  /** The token (CAIP-19) of which money has arrived at a deposit address of the payment. Undefined if none is known. */
  readonly paidInto?: string | undefined;
  readonly step: Step;
  readonly notice: Notice | null;
  readonly connection: Connection;
  /** Null until the search for wallets has ended. */
  readonly wallets: readonly WalletCard[] | null;
  readonly isCancelling: boolean;
}

export type Connection = 'good' | 'offline' | 'away';

export type Step =
  | { readonly at: 'ready' }
  | { readonly at: 'connecting'; readonly wallet: WalletCard; readonly isSlow: boolean; readonly code: Code | null }
  | { readonly at: 'loading'; readonly session: Session }
  | ({ readonly at: 'choosing' } & Choice)
  /** `accepted` is null if the gateway does not list the tokens. */
  | {
      readonly at: 'no_funds';
      readonly session: Session;
      readonly accepted: readonly AcceptedToken[] | null;
      readonly stopped: unknown;
    }
  | { readonly at: 'refused'; readonly session: Session }
  /** A token that needs an approval first. The page explains it before the wallet asks. */
  | ({ readonly at: 'setup'; readonly cost: string | null } & Choice)
  | ({ readonly at: 'preparing' } & Choice)
  | ({ readonly at: 'asking'; readonly ask: Ask; readonly isSlow: boolean } & Choice)
  | ({ readonly at: 'mining'; readonly txId: string } & Choice)
  /** The payer chooses the token to send to a deposit address. */
  | { readonly at: 'picking' }
  /** The payer sends the token. `deposit` is null until the gateway has opened the address. */
  | { readonly at: 'transfer'; readonly asset: string; readonly deposit: Deposit | null }
  /** The payer has signed or sent the payment. The page must stay open until the gateway has the signature or the transaction's id. */
  | {
      readonly at: 'confirming';
      /** Null if the choice was made before a reload, or elsewhere. */
      readonly choice: Choice | null;
      /** The id of the payer's own transaction. Null if the payer signed an authorization instead. */
      readonly txId: string | null;
      readonly isDelivered: boolean;
      /** The money at a deposit address, if it was sent to one. */
      readonly deposit?: Deposit | null;
    }
  | { readonly at: 'ended' };

export interface Code {
  readonly uri: string;
  readonly qr: QrShape;
}

/** Steps that few payers see. Their views are loaded on demand. */
export type RareStep = Extract<Step, { at: 'no_funds' | 'refused' | 'setup' | 'mining' | 'picking' | 'transfer' }>;

const RARE: ReadonlySet<Step['at']> = new Set(['no_funds', 'refused', 'setup', 'mining', 'picking', 'transfer']);

export function isRare(step: Step): step is RareStep {
  return RARE.has(step.at);
}

export type Ask = 'switch' | 'approve' | 'sign' | 'send';

export interface Session {
  readonly wallet: WalletCard;
  /** In lower case. */
  readonly account: string;
}

export interface Choice {
  readonly session: Session;
  /** The best option first. Never empty. */
  readonly options: readonly GatewayOption[];
  readonly option: GatewayOption;
}

export type Notice =
  | 'rejected'
  | 'pendingRequest'
  | 'walletError'
  | 'walletNonsense'
  | 'walletLocked'
  | 'wrongChain'
  | 'wrongAccount'
  | 'accountChanged'
  | 'quoteExpired'
  | 'notAccepted'
  | 'setupFailed'
  | 'reverted'
  | 'cannotCancel'
  | 'maybePending'
  | 'lapsed'
  | 'codeExpired'
  | 'relayAway'
  | 'networkNotShared'
  | 'addressFailed'
  | 'partArrived'
  | 'away';

/** The name of the notice's text. A lapse charges nothing, but money can lie at a deposit address of the payment. */
export function noticeTextOf(flow: Flow): Notice | 'lapsedWithMoney' | null {
  return flow.notice === 'lapsed' && hasMoney(flow) ? 'lapsedWithMoney' : flow.notice;
}

/** True if money has arrived for the payment and is not returned. */
export function hasMoney({ paidInto, payment }: Flow): boolean {
  return paidInto !== undefined || payment.lateMoney?.some(({ status }) => status !== 'returned') === true;
}

/** True while the payment is processing, and if it succeeded before the page knew the buyer. */
export function lacksDetails({ payment: { status, buyer } }: Flow): boolean {
  return status === 'processing' || (status === 'succeeded' && buyer === null);
}

export function isWhole({ amount, arrived }: Deposit): boolean {
  return BigInt(arrived.value) >= BigInt(amount.value);
}

/** The progress of a payment that the payer has authorised or that has expired. */
export type Progress = 'delivering' | 'unseen' | 'looking' | 'refused' | 'under_way';

export function progressOf(payment: PaymentView, step: Extract<Step, { at: 'confirming' }>, nowMs: number): Progress {
  if (!step.isDelivered) return 'delivering';
  if (step.deposit != null && isWhole(step.deposit)) return 'under_way';
  // The gateway has not seen the payer's transaction yet.
  if (payment.status === 'requires_action') return 'unseen';
  const isPaying = [payment.buyer, payment.transaction, step.choice, step.txId].some((sign) => sign !== null);
  // Expired without a known buyer: the gateway is checking whether a native transaction was sent in time.
  if (!isPaying && nowMs >= payment.expiresAt * 1000) return 'looking';
  return payment.attempt == null ? 'under_way' : 'refused';
}

export function sessionOf(step: Step): Session | null {
  if (step.at === 'confirming') return step.choice?.session ?? null;
  return 'session' in step ? step.session : null;
}

export function walletIn(step: Step): WalletCard | null {
  return step.at === 'connecting' ? step.wallet : (sessionOf(step)?.wallet ?? null);
}

export function choiceOf({ session, options, option }: Choice): Choice {
  return { session, options, option };
}

/** True if the payer must send a transaction before the signature. */
export function needsSetup({ actions }: GatewayOption): boolean {
  return actions.length > 1 && sendsTransaction(actions[0]);
}

/** True for a payment in the network's coin, for which the payer pays the gas. Its action is fetched later. */
export function isNative({ amount }: GatewayOption): boolean {
  return amount.unit.includes('/slip44:');
}

function sendsTransaction(action: GatewayOption['actions'][number] | undefined): boolean {
  return action?.type === 'walletRpc' && action.data.method === 'eth_sendTransaction';
}

/** True only while nothing is signed and no wallet request is open. */
export function canCancel({ step, payment, isCancelling }: Flow): boolean {
  return payment.status === 'requires_action' && !isCancelling && CANCELLABLE.has(step.at);
}

const CANCELLABLE: ReadonlySet<Step['at']> = new Set(['ready', 'choosing', 'no_funds', 'refused', 'setup']);
