import type { QrShape } from '../shared/qr.ts';
import type { AcceptedToken, Deposit, GatewayOption } from './api.ts';
import type { PaymentView } from './page-state.ts';
import type { WalletCard } from './wallets.ts';

/** The state of the checkout. The page is a function of it. */
export interface Flow {
  readonly payment: PaymentView;
  readonly step: Step;
  readonly notice: Notice | null;
  readonly connection: Connection;
  /** Null until the page has searched. */
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
  /** A token that needs a permission first: explained before the wallet asks. */
  | ({ readonly at: 'setup'; readonly cost: string | null } & Choice)
  | ({ readonly at: 'preparing' } & Choice)
  | ({ readonly at: 'asking'; readonly ask: Ask; readonly isSlow: boolean } & Choice)
  | ({ readonly at: 'mining'; readonly txId: string } & Choice)
  /** The payer chooses the token to send from elsewhere. */
  | { readonly at: 'picking' }
  /** The payer sends the token to an address; `deposit` is null until the gateway has handed it out. */
  | { readonly at: 'transfer'; readonly asset: string; readonly deposit: Deposit | null }
  /** The payer's part is done. Until it is delivered, the page has to stay open. */
  | {
      readonly at: 'confirming';
      /** Null when it was made before a reload, or elsewhere. */
      readonly choice: Choice | null;
      /** The payer's own transaction, where the payment is one. */
      readonly txId: string | null;
      readonly isDelivered: boolean;
      /** The money at an address of the payment, where it was sent to one. */
      readonly deposit?: Deposit | null;
    }
  | { readonly at: 'ended' };

/** The code by which a wallet on another device is paired. */
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

/** The request to the wallet. */
export type Ask = 'switch' | 'approve' | 'sign' | 'send';

/** A wallet with a connected account. */
export interface Session {
  readonly wallet: WalletCard;
  /** In lower case. */
  readonly account: string;
}

export interface Choice {
  readonly session: Session;
  /** The best first; never empty. */
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

/** While the payment is processing, and when it was processed before the page learned the buyer. */
export function lacksDetails({ payment: { status, buyer } }: Flow): boolean {
  return status === 'processing' || (status === 'succeeded' && buyer === null);
}

export function isWhole({ amount, arrived }: Deposit): boolean {
  return BigInt(arrived.value) >= BigInt(amount.value);
}

/** The state of a payment after the payer has authorised it, or past its expiry. */
export type Progress = 'delivering' | 'unseen' | 'looking' | 'refused' | 'under_way';

export function progressOf(payment: PaymentView, step: Extract<Step, { at: 'confirming' }>, nowMs: number): Progress {
  if (!step.isDelivered) return 'delivering';
  if (step.deposit != null && isWhole(step.deposit)) return 'under_way';
  // The gateway has not seen the payer's own transaction yet.
  if (payment.status === 'requires_action') return 'unseen';
  const isPaying = [payment.buyer, payment.transaction, step.choice, step.txId].some((sign) => sign !== null);
  // Past the expiry and without a buyer: the gateway checks whether a native transaction was sent in time.
  if (!isPaying && nowMs >= payment.expiresAt * 1000) return 'looking';
  return payment.attempt == null ? 'under_way' : 'refused';
}

export function sessionOf(step: Step): Session | null {
  if (step.at === 'confirming') return step.choice?.session ?? null;
  return 'session' in step ? step.session : null;
}

/** The wallet that the step needs. */
export function walletIn(step: Step): WalletCard | null {
  return step.at === 'connecting' ? step.wallet : (sessionOf(step)?.wallet ?? null);
}

export function choiceOf({ session, options, option }: Choice): Choice {
  return { session, options, option };
}

/** True if the payer sends a transaction before the signature. */
export function needsSetup({ actions }: GatewayOption): boolean {
  return actions.length > 1 && sendsTransaction(actions[0]);
}

/** True for a payment in coin, whose gas the payer pays. Its action is fetched later, so the option has none yet. */
export function isNative({ amount }: GatewayOption): boolean {
  return amount.unit.includes('/slip44:');
}

function sendsTransaction(action: GatewayOption['actions'][number] | undefined): boolean {
  return action?.type === 'walletRpc' && action.data.method === 'eth_sendTransaction';
}

/** Only while nothing is signed, and no request is with the wallet. */
export function canCancel({ step, payment, isCancelling }: Flow): boolean {
  return payment.status === 'requires_action' && !isCancelling && CANCELLABLE.has(step.at);
}

const CANCELLABLE: ReadonlySet<Step['at']> = new Set(['ready', 'choosing', 'no_funds', 'refused', 'setup']);
