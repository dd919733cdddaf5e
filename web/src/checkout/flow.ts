import type { AcceptedToken, Deposit, GatewayOption, PaymentDetails } from './api.ts';
import {
  type Ask,
  type Choice,
  type Code,
  type Connection,
  canCancel,
  choiceOf,
  type Flow,
  isWhole,
  lacksDetails,
  type Notice,
  needsSetup,
  type Step,
  sessionOf,
} from './flow-state.ts';
import type { PaidInfo, PaymentStatus, PaymentView } from './page-state.ts';
import type { WalletCard } from './wallets.ts';

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
      readonly stopped: unknown;
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
  /** The present step failed, in the wallet or at the gateway. The flow goes back to a step from which the payer can try again. */
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

export function startFlow(payment: PaymentView, paidInto?: string): Flow {
  return {
    payment,
    paidInto,
    step: stepOf(payment, { at: 'ready' }),
    notice: null,
    connection: 'good',
    wallets: null,
    isCancelling: false,
  };
}

/**
 * The checkout as a pure state machine. Every click, wallet answer and gateway answer is an event. An event that does not fit the
 * step changes nothing, so late and repeated answers are harmless.
 */
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
    // A sent transaction counts even if the payer has gone back to another step.
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

/** The flow after an event that matters only until the payment has ended. */
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
      // A request to send a transaction stays open in the wallet, and the payer may still approve it there.
      return at(flow, backFrom(step), step.at === 'asking' && step.ask === 'send' ? 'maybePending' : null);
  }
}

/**
 * Applies a status that the gateway reported. If the gateway still reports `requires_action` after the payer has authorised the
 * payment, the page stays at `confirming`: it knows of the payer's transaction before the gateway does.
 */
function withStatus(flow: Flow, news: StatusNews, knew: PaymentStatus): Flow {
  const before = flow.payment;
  // Answers can arrive out of order, so a final status stays final.
  if (before.isFinal && news.status !== before.status) return flow;
  if (before.status === 'processing' && news.status === 'requires_action') {
    // Only a request sent while the page knew `processing` proves that the signature has expired. The answer to an earlier request is
    // outdated.
    return knew === 'processing' ? lapsed(flow) : flow;
  }
  const payment = { ...before, ...news, info: news.info ?? before.info };
  const step = stepOf(payment, flow.step);
  if (step === flow.step && news.status === before.status && payment.info === before.info) return flow;
  const isNew = step !== flow.step;
  return { ...flow, payment, step, notice: isNew ? null : flow.notice, isCancelling: flow.isCancelling && !isNew };
}

/**
 * The flow after a signature expired before it was executed. The buyer, transaction and attempt are cleared, and the payer can pay
 * again.
 */
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

function withDetails(before: Flow, { buyer, transaction, attempt = null, lateMoney }: PaymentDetails): Flow {
  const flow = withLateMoney(before, lateMoney);
  const { payment } = flow;
  // An answer to a request from before a lapse may arrive after the lapse. Its details are outdated, and are ignored.
  if (!lacksDetails(flow)) return flow;
  const isKnown =
    buyer?.accountCaip10 === payment.buyer?.accountCaip10 &&
    transaction?.txId === payment.transaction?.txId &&
    attempt?.refusal === payment.attempt?.refusal &&
    attempt?.triesUntil === payment.attempt?.triesUntil;
  return isKnown ? flow : { ...flow, payment: { ...payment, buyer, transaction, attempt } };
}

/**
 * Stores the late money of the payment. Money can arrive after the payment has ended, and can be returned while the page is open.
 * Gateway nodes of an older version do not report late money.
 */
function withLateMoney(flow: Flow, lateMoney: PaymentView['lateMoney']): Flow {
  const { payment } = flow;
  const isKnown = JSON.stringify(lateMoney) === JSON.stringify(payment.lateMoney ?? []);
  return lateMoney === undefined || isKnown ? flow : { ...flow, payment: { ...payment, lateMoney } };
}

function stepOf({ status, isFinal }: PaymentView, step: Step): Step {
  if (isFinal) return step.at === 'ended' ? step : { at: 'ended' };
  if (status !== 'processing') return step;
  if (step.at === 'confirming') return step.isDelivered ? step : { ...step, isDelivered: true };
  // The payment was authorised on another page, perhaps with another token than the one chosen here.
  return { ...confirming(null, null), isDelivered: true, deposit: step.at === 'transfer' ? step.deposit : null };
}

/** Shows the progress of a transfer. Once the whole amount has arrived, the address is no longer shown. */
function withDeposit(before: Flow, deposit: Deposit): Flow {
  const asset = deposit.amount.unit.slice('caip19/'.length);
  const flow = withArrival(before, asset, deposit.arrived.value !== '0');
  const { step, payment } = flow;
  const isHere =
    step.at === 'transfer' ? step.asset === asset : step.at === 'confirming' && step.choice === null && !step.txId;
  if (!isHere) return flow;
  const isDone = payment.status === 'processing' || isWhole(deposit);
  const next: Step = isDone
    ? { ...confirming(null, null), isDelivered: true, deposit }
    : { at: 'transfer', asset, deposit };
  return { ...flow, step: next };
}

/** Records whether money of an asset is at its deposit address. A reorg can remove that money again. */
function withArrival(flow: Flow, asset: string, isThere: boolean): Flow {
  if (isThere) return flow.paidInto === asset ? flow : { ...flow, paidInto: asset };
  return flow.paidInto === asset ? { ...flow, paidInto: undefined } : flow;
}

/** True if money has arrived at the shown deposit address. The payer is warned, as other ways to pay charge the whole amount again. */
function hasArrived(step: Step): boolean {
  return step.at === 'transfer' && step.deposit !== null && step.deposit.arrived.value !== '0';
}

function accountChanged(flow: Flow, account: string | null): Flow {
  const { step } = flow;
  if (!('session' in step)) return flow;
  if (account === null) {
    // After a request to send a transaction, the wallet may already have sent it.
    const isUnknown = flow.notice === 'maybePending' || (step.at === 'asking' && step.ask === 'send');
    return at(flow, { at: 'ready' }, isUnknown ? 'maybePending' : 'walletLocked');
  }
  if (account === step.session.account) return flow;
  return at(flow, { at: 'loading', session: { ...step.session, account } }, 'accountChanged');
}

function optionsCame(flow: Flow, event: Extract<FlowEvent, { type: 'options_came' }>): Flow {
  const { options, accepted, stopped, preferredUnit } = event;
  const { step } = flow;
  if (step.at !== 'loading' && step.at !== 'choosing') return flow;
  const { session } = step;
  const wanted = step.at === 'choosing' ? step.option.amount.unit : preferredUnit;
  const option = options.find(({ amount }) => amount.unit === wanted) ?? options[0];
  if (option === undefined) {
    return at(flow, { at: 'no_funds', session, accepted, stopped }, flow.notice === 'lapsed' ? 'lapsed' : null);
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

/** The step to which the payer returns after going back, or after a failure. */
function backFrom(step: Step): Step {
  if (step.at === 'confirming') return step.choice === null ? { at: 'ready' } : { at: 'choosing', ...step.choice };
  if (step.at === 'transfer') return { at: 'picking' };
  return 'option' in step && step.at !== 'choosing' ? { at: 'choosing', ...choiceOf(step) } : { at: 'ready' };
}

function isPaying(step: Step): step is Extract<Step, { at: 'preparing' | 'asking' | 'mining' }> {
  return step.at === 'preparing' || step.at === 'asking' || step.at === 'mining';
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
