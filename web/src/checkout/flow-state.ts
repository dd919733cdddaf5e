import type { QrShape } from '../shared/qr.ts';
import type { AcceptedToken, Deposit, GatewayOption } from './api.ts';
import type { PaymentView } from './page-state.ts';
import type { WalletCard } from './wallets.ts';

/** The state of the checkout. All that changes on the page is rendered from this state. */
export interface Flow {
  readonly payment: PaymentView;
  /** The token (CAIP-19) of which money has arrived at a deposit address of the payment. Undefined if no such money is known. */
  readonly paidInto?: string | undefined;
  readonly step: Step;
  readonly notice: Notice | null;
  readonly connection: Connection;
  /** The wallets that were found. Null until the search for wallets has ended. */
  readonly wallets: readonly WalletCard[] | null;
  readonly isCancelling: boolean;
}

export type Connection = 'good' | 'offline' | 'away';

export type Step =
  | { readonly at: 'ready' }
  | { readonly at: 'connecting'; readonly wallet: WalletCard; readonly isSlow: boolean; readonly code: Code | null }
  | { readonly at: 'loading'; readonly session: Session }
  | ({ readonly at: 'choosing' } & Choice)
  /** The gateway has no option for the account. `accepted` is null if the gateway does not list the accepted tokens. */
  | {
      readonly at: 'no_funds';
      readonly session: Session;
      readonly accepted: readonly AcceptedToken[] | null;
      readonly stopped: unknown;
    }
  | { readonly at: 'refused'; readonly session: Session }
  /** The chosen token needs an approval first. The page explains the approval before the wallet asks for it. */
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
      /**
       * The option that the payer chose. Null for money at a deposit address, or if the choice was made before a reload or on another
       * page.
       */
      readonly choice: Choice | null;
      /** The id of the payer's own transaction. Null if the payer signed an authorization, or paid on another page. */
      readonly txId: string | null;
      readonly isDelivered: boolean;
      /** The deposit address and its money, if the payer sent money to one. */
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
  /** The address of the account, in lower case. */
  readonly account: string;
}

export interface Choice {
  readonly session: Session;
  /** The options of the account, the best one first. Never empty. */
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

/**
 * The key of the notice's text. After a lapse, the usual text says that no money was taken. Another text is used if money has arrived
 * at a deposit address or as late money.
 */
export function noticeTextOf(flow: Flow): Notice | 'lapsedWithMoney' | null {
  return flow.notice === 'lapsed' && hasMoney(flow) ? 'lapsedWithMoney' : flow.notice;
}

/** True if money has arrived for the payment and is not returned. */
export function hasMoney({ paidInto, payment }: Flow): boolean {
  return paidInto !== undefined || payment.lateMoney?.some(({ status }) => status !== 'returned') === true;
}

/** True if the page needs the payment's details: the payment is processing, or it succeeded before the page knew the buyer. */
export function lacksDetails({ payment: { status, buyer } }: Flow): boolean {
  return status === 'processing' || (status === 'succeeded' && buyer === null);
}

export function isWhole({ amount, arrived }: Deposit): boolean {
  return BigInt(arrived.value) >= BigInt(amount.value);
}

/** The progress of a payment that the payer has authorised, or whose deadline has passed. */
export type Progress = 'delivering' | 'unseen' | 'looking' | 'refused' | 'under_way';

export function progressOf(payment: PaymentView, step: Extract<Step, { at: 'confirming' }>, nowMs: number): Progress {
  if (!step.isDelivered) return 'delivering';
  if (step.deposit != null && isWhole(step.deposit)) return 'under_way';
  // The page has delivered the id of the payer's transaction, but the gateway has not found it on the chain yet.
  if (payment.status === 'requires_action') return 'unseen';
  const isPaying = [payment.buyer, payment.transaction, step.choice, step.txId].some((sign) => sign !== null);
  // The deadline has passed and no buyer is known: the gateway is checking whether a payment in coin was sent in time.
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

/**
 * True if the option pays in the network's coin. The payer then sends the transaction and pays its gas. The wallet request to send it
 * is fetched from the gateway when the payer pays.
 */
export function isNative({ amount }: GatewayOption): boolean {
  return amount.unit.includes('/slip44:');
}

function sendsTransaction(action: GatewayOption['actions'][number] | undefined): boolean {
  return action?.type === 'walletRpc' && action.data.method === 'eth_sendTransaction';
}

/** True if the payer can cancel the payment: nothing is signed, and no wallet request is open. */
export function canCancel({ step, payment, isCancelling }: Flow): boolean {
  return payment.status === 'requires_action' && !isCancelling && CANCELLABLE.has(step.at);
}

const CANCELLABLE: ReadonlySet<Step['at']> = new Set(['ready', 'choosing', 'no_funds', 'refused', 'setup']);
