import type { QrShape } from '../shared/qr.ts';
import type { AcceptedToken, Deposit, GatewayOption, PaymentDetails } from './api.ts';
import type { PaidInfo, PaymentStatus, PaymentView } from './page-state.ts';
import type { WalletCard } from './wallets.ts';

/**
 * The checkout as a pure state machine. The page is a function of this state. Every click, wallet answer and gateway
 * answer is an event. An event that does not fit the step changes nothing, so late or repeated answers are harmless.
 */
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
  | { readonly at: 'no_funds'; readonly session: Session; readonly accepted: readonly AcceptedToken[] | null }
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

export type FlowEvent =
  | { readonly type: 'wallets_found'; readonly wallets: readonly WalletCard[] }
  | { readonly type: 'connect'; readonly wallet: WalletCard }
  | { readonly type: 'code_came'; readonly code: Code }
  | { readonly type: 'connected'; readonly account: string }
  | { readonly type: 'account_changed'; readonly account: string | null }
  | { readonly type: 'options_asked'; readonly notice?: Notice }
  | {
      readonly type: 'options_came';
      readonly options: readonly GatewayOption[];
      readonly accepted: readonly AcceptedToken[] | null;
      readonly preferredUnit: string | null;
    }
  | { readonly type: 'refused' }
  | { readonly type: 'send' }
  | { readonly type: 'address_asked'; readonly asset: string }
  | { readonly type: 'address_came'; readonly deposit: Deposit }
  | { readonly type: 'choose'; readonly optionId: string }
  | { readonly type: 'pay' }
  | { readonly type: 'setup_cost'; readonly cost: string }
  | { readonly type: 'asked'; readonly ask: Ask }
  | { readonly type: 'slow' }
  | { readonly type: 'setup_sent'; readonly txId: string }
  | { readonly type: 'authorised'; readonly choice: Choice | null; readonly txId: string | null }
  | { readonly type: 'delivered' }
  /** A failure on the payer's side: back to a step where they can try again. */
  | { readonly type: 'stumbled'; readonly notice: Notice }
  | { readonly type: 'back' }
  | { readonly type: 'cancelling' }
  | { readonly type: 'cancel_refused' }
  /** `knew` is the status that the page knew when it sent the request. */
  | { readonly type: 'status'; readonly status: StatusNews; readonly knew: PaymentStatus }
  | { readonly type: 'details'; readonly details: PaymentDetails }
  | { readonly type: 'connection'; readonly connection: Connection };

export interface StatusNews {
  readonly status: PaymentStatus;
  readonly isFinal: boolean;
  readonly info: PaidInfo | null;
  readonly failureCode?: string | null;
}

export function startFlow(payment: PaymentView): Flow {
  return {
    payment,
    step: stepOf(payment, { at: 'ready' }),
    notice: null,
    connection: 'good',
    wallets: null,
    isCancelling: false,
  };
}

export function advance(flow: Flow, event: FlowEvent): Flow {
  switch (event.type) {
    case 'wallets_found':
      return { ...flow, wallets: event.wallets };
    case 'connection':
      return flow.connection === event.connection ? flow : { ...flow, connection: event.connection };
    case 'status':
      return withStatus(flow, event.status, event.knew);
    case 'details':
      return withDetails(flow, event.details);
    case 'cancelling':
      return canCancel(flow) ? { ...flow, isCancelling: true, notice: null } : flow;
    case 'cancel_refused':
      return { ...flow, isCancelling: false, notice: flow.step.at === 'ended' ? null : 'cannotCancel' };
    // A sent transaction is kept, even when the payer has gone back to another step meanwhile.
    case 'authorised':
      return isOver(flow) ? flow : at(flow, confirming(event.choice, event.txId));
    default:
      return isOver(flow) ? flow : onTheWay(flow, event);
  }
}

type WayEvent = Exclude<
  FlowEvent,
  { type: 'wallets_found' | 'connection' | 'status' | 'details' | 'cancelling' | 'cancel_refused' | 'authorised' }
>;

/** Events that matter only while the payer has to act. */
function onTheWay(flow: Flow, event: WayEvent): Flow {
  const { step } = flow;
  const session = sessionOf(step);
  switch (event.type) {
    case 'connect':
      if (step.at === 'confirming') return flow;
      return at(flow, { at: 'connecting', wallet: event.wallet, isSlow: false, code: null });
    case 'code_came':
      if (step.at !== 'connecting' || step.wallet.kind !== 'paired') return flow;
      return { ...flow, step: { ...step, code: event.code } };
    case 'connected':
      if (step.at !== 'connecting') return flow;
      return at(flow, { at: 'loading', session: { wallet: step.wallet, account: event.account } });
    case 'account_changed':
      return accountChanged(flow, event.account);
    case 'options_asked':
      return session === null ? flow : at(flow, { at: 'loading', session }, event.notice ?? null);
    case 'options_came':
      return optionsCame(flow, event);
    case 'refused':
      return session === null ? flow : at(flow, { at: 'refused', session });
    case 'send':
      return step.at === 'ready' ? at(flow, { at: 'picking' }) : flow;
    case 'address_asked':
      if (step.at !== 'ready' && step.at !== 'picking') return flow;
      return at(flow, { at: 'transfer', asset: event.asset, deposit: null });
    case 'address_came':
      return withDeposit(flow, event.deposit);
    case 'choose':
      return chosen(flow, event.optionId);
    case 'pay':
      return pay(flow);
    case 'setup_cost':
      return step.at === 'setup' ? { ...flow, step: { ...step, cost: event.cost } } : flow;
    case 'asked':
      if (!isPaying(step)) return flow;
      return at(flow, { at: 'asking', ask: event.ask, isSlow: false, ...choiceOf(step) });
    case 'slow':
      return step.at === 'connecting' || step.at === 'asking' ? { ...flow, step: { ...step, isSlow: true } } : flow;
    case 'setup_sent':
      return isPaying(step) ? at(flow, { at: 'mining', txId: event.txId, ...choiceOf(step) }) : flow;
    case 'delivered':
      return step.at === 'confirming' ? { ...flow, step: { ...step, isDelivered: true } } : flow;
    case 'stumbled':
      return at(flow, stepOf(flow.payment, backFrom(step)), event.notice);
    case 'back':
      if (step.at === 'confirming') return flow;
      if (hasArrived(step)) return at(flow, { at: 'ready' }, 'partArrived');
      // The request stays open in the wallet, and the payer may still approve it.
      return at(flow, backFrom(step), step.at === 'asking' && step.ask === 'send' ? 'maybePending' : null);
  }
}

/** The gateway's status is authoritative, except that it learns of a payer's own transaction later than this page. */
function withStatus(flow: Flow, news: StatusNews, knew: PaymentStatus): Flow {
  const before = flow.payment;
  // Answers can overtake each other: a final status stays final.
  if (before.isFinal && news.status !== before.status) return flow;
  if (before.status === 'processing' && news.status === 'requires_action') {
    // Only an answer requested after the page knew of `processing` proves a lapse; an earlier request is stale.
    return knew === 'processing' ? lapsed(flow) : flow;
  }
  const payment = { ...before, ...news, info: news.info ?? before.info };
  const step = stepOf(payment, flow.step);
  if (step === flow.step && news.status === before.status && payment.info === before.info) return flow;
  const isNew = step !== flow.step;
  return { ...flow, payment, step, notice: isNew ? null : flow.notice, isCancelling: flow.isCancelling && !isNew };
}

/** The signature expired before it was carried out. Its facts are cleared, and the payer can pay again. */
function lapsed(flow: Flow): Flow {
  const session = sessionOf(flow.step);
  const payment = {
    ...flow.payment,
    status: 'requires_action',
    buyer: null,
    transaction: null,
    attempt: null,
  } as const;
  const step: Step = session === null ? { at: 'ready' } : { at: 'loading', session };
  return { ...flow, payment, step, notice: 'lapsed' };
}

function withDetails(flow: Flow, { buyer, transaction, attempt = null }: PaymentDetails): Flow {
  const { payment } = flow;
  // The request may be older than a lapse.
  if (!lacksDetails(flow)) return flow;
  const isKnown =
    buyer?.accountCaip10 === payment.buyer?.accountCaip10 &&
    transaction?.txId === payment.transaction?.txId &&
    attempt?.refusal === payment.attempt?.refusal &&
    attempt?.triesUntil === payment.attempt?.triesUntil;
  return isKnown ? flow : { ...flow, payment: { ...payment, buyer, transaction, attempt } };
}

/** While the payment is processing, and when it was processed before the page learned the buyer. */
export function lacksDetails({ payment: { status, buyer } }: Flow): boolean {
  return status === 'processing' || (status === 'succeeded' && buyer === null);
}

function stepOf({ status, isFinal }: PaymentView, step: Step): Step {
  if (isFinal) return step.at === 'ended' ? step : { at: 'ended' };
  if (status !== 'processing') return step;
  if (step.at === 'confirming') return step.isDelivered ? step : { ...step, isDelivered: true };
  // The payment was confirmed elsewhere, maybe with another token than the one chosen here.
  return { ...confirming(null, null), isDelivered: true, deposit: step.at === 'transfer' ? step.deposit : null };
}

/** Shows the progress of a transfer. An address is not shown again once the whole amount has arrived. */
function withDeposit(flow: Flow, deposit: Deposit): Flow {
  const { step, payment } = flow;
  const asset = deposit.amount.unit.slice('caip19/'.length);
  const isHere =
    step.at === 'transfer' ? step.asset === asset : step.at === 'confirming' && step.choice === null && !step.txId;
  if (!isHere) return flow;
  const isDone = payment.status === 'processing' || isWhole(deposit);
  const next: Step = isDone
    ? { ...confirming(null, null), isDelivered: true, deposit }
    : { at: 'transfer', asset, deposit };
  return { ...flow, step: next };
}

export function isWhole({ amount, arrived }: Deposit): boolean {
  return BigInt(arrived.value) >= BigInt(amount.value);
}

/** True if a part of the money is at the address: another way to pay would take the whole amount again. */
function hasArrived(step: Step): boolean {
  return step.at === 'transfer' && step.deposit !== null && step.deposit.arrived.value !== '0';
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

function accountChanged(flow: Flow, account: string | null): Flow {
  const { step } = flow;
  if (!('session' in step)) return flow;
  if (account === null) {
    // A transaction that was requested before may have been sent.
    const isUnknown = flow.notice === 'maybePending' || (step.at === 'asking' && step.ask === 'send');
    return at(flow, { at: 'ready' }, isUnknown ? 'maybePending' : 'walletLocked');
  }
  if (account === step.session.account) return flow;
  return at(flow, { at: 'loading', session: { ...step.session, account } }, 'accountChanged');
}

function optionsCame(flow: Flow, event: Extract<FlowEvent, { type: 'options_came' }>): Flow {
  const { options, accepted, preferredUnit } = event;
  const { step } = flow;
  if (step.at !== 'loading' && step.at !== 'choosing') return flow;
  const { session } = step;
  const wanted = step.at === 'choosing' ? step.option.amount.unit : preferredUnit;
  const option = options.find(({ amount }) => amount.unit === wanted) ?? options[0];
  if (option === undefined) {
    return at(flow, { at: 'no_funds', session, accepted }, flow.notice === 'lapsed' ? 'lapsed' : null);
  }
  return at(flow, { at: 'choosing', session, options, option }, flow.notice);
}

function chosen(flow: Flow, optionId: string): Flow {
  const { step } = flow;
  if (step.at !== 'choosing') return flow;
  const option = step.options.find(({ id }) => id === optionId);
  return option === undefined ? flow : at(flow, { ...step, option });
}

function pay(flow: Flow): Flow {
  const { step } = flow;
  if (step.at === 'choosing' && needsSetup(step.option)) return at(flow, { ...step, at: 'setup', cost: null });
  if (step.at === 'choosing' || step.at === 'setup') return at(flow, { at: 'preparing', ...choiceOf(step) });
  return flow;
}

/** The step for a payer who cannot or will not continue. */
function backFrom(step: Step): Step {
  if (step.at === 'confirming') return step.choice === null ? { at: 'ready' } : { at: 'choosing', ...step.choice };
  if (step.at === 'transfer') return { at: 'picking' };
  return 'option' in step && step.at !== 'choosing' ? { at: 'choosing', ...choiceOf(step) } : { at: 'ready' };
}

function sessionOf(step: Step): Session | null {
  if (step.at === 'confirming') return step.choice?.session ?? null;
  return 'session' in step ? step.session : null;
}

/** The wallet that the step needs. */
export function walletIn(step: Step): WalletCard | null {
  return step.at === 'connecting' ? step.wallet : (sessionOf(step)?.wallet ?? null);
}

function isPaying(step: Step): step is Extract<Step, { at: 'preparing' | 'asking' | 'mining' }> {
  return step.at === 'preparing' || step.at === 'asking' || step.at === 'mining';
}

export function choiceOf({ session, options, option }: Choice): Choice {
  return { session, options, option };
}

function confirming(choice: Choice | null, txId: string | null) {
  return { at: 'confirming', choice, txId, isDelivered: false } as const;
}

function at(flow: Flow, step: Step, notice: Notice | null = null): Flow {
  return { ...flow, step, notice };
}

function isOver({ step }: Flow): boolean {
  return step.at === 'ended';
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
