import { backoffMs, pause } from '../shared/backoff.ts';
import { eitherSignal } from '../shared/either-signal.ts';
import type { Answer, ReceiptRecipient } from './api.ts';
import {
  type CheckoutContext,
  type CheckoutDeps,
  learnDetails,
  learnStatus,
  reportStatus,
} from './checkout-context.ts';
import { connectWallet, watchWallet } from './connect-wallet.ts';
import { deliver } from './deliver.ts';
import { advance, type FlowEvent, startFlow } from './flow.ts';
import { canCancel, type Flow, lacksDetails, walletIn } from './flow-state.ts';
import { followStatus } from './follow-status.ts';
import { keepPricesFresh, loadOptions } from './load-options.ts';
import { cardOf, type Wallet } from './wallets.ts';

export interface Checkout {
  getFlow(): Flow;
  subscribe(listener: () => void): () => void;
  start(): void;
  stop(): void;
  foundWallets(wallets: readonly Wallet[]): void;
  connect(walletId: string): void;
  choose(optionId: string): void;
  pay(): void;
  send(): void;
  /** Asks for the deposit address of a token (CAIP-19). */
  sendToken(asset: string): void;
  checkAgain(): void;
  back(): void;
  cancel(): void;
  mailReceipt(to: ReceiptRecipient): Promise<Answer<unknown>>;
}

/** The time without an answer from the wallet after which a hint is shown. */
const SLOW_MS = 12_000;
const MAX_CANCELS = 4;
/**
 * The hold time of a status request while the transaction of a processing payment is unknown. After each answer the page asks for the
 * payment's details, which contain the transaction.
 */
const ASK_AGAIN_MS = 2_000;

/** Runs the effects of the flow, such as requests. Only one task runs at a time: a new task aborts the previous one. */
export function createCheckout(deps: CheckoutDeps): Checkout {
  const { page, memory } = deps;
  const listeners = new Set<() => void>();
  const wallets = new Map<string, Wallet>();
  const life = new AbortController();
  let run = new AbortController();
  let flow = startFlow(page.payment, page.paidInto);
  let slowTimer: ReturnType<typeof setTimeout> | undefined;
  let unwatch = () => {};
  /** True once a deposit address was shown. Other tokens can arrive there, so the page then asks for late money after each status. */
  let hasAddress = page.paidInto != null;

  const context: CheckoutContext = {
    ...deps,
    flow: () => flow,
    dispatch(event) {
      const before = flow;
      flow = advance(flow, event);
      if (flow === before) return;
      if (flow.step.at === 'transfer') hasAddress = true;
      closeUnused(before);
      if (isOvertaken(before, flow, event)) context.begin();
      if (flow.step.at === 'ended' && before.step.at !== 'ended') settle();
      if (isLapsed(before, flow)) payAgain();
      for (const listener of listeners) listener();
    },
    begin() {
      run.abort();
      run = new AbortController();
      context.gotAnswer();
      return eitherSignal(run.signal, life.signal);
    },
    expectAnswer() {
      clearTimeout(slowTimer);
      slowTimer = setTimeout(() => context.dispatch({ type: 'slow' }), SLOW_MS);
    },
    gotAnswer: () => clearTimeout(slowTimer),
    wallet: (id) => wallets.get(id),
  };
  const { dispatch, begin } = context;

  /** Closes the connection to the wallet of the previous step, such as a paired wallet, if the present step does not use that wallet. */
  const closeUnused = ({ step }: Flow) => {
    const used = walletIn(step);
    if (used !== null && walletIn(flow.step)?.id !== used.id) wallets.get(used.id)?.close?.();
  };

  const settle = () => {
    memory.forgetPending(page.paymentId);
    unwatch();
    const signal = begin();
    // If this module cannot be loaded, new late money is shown only when the page is opened again.
    import('./follow-late-money.ts').then(
      ({ followLateMoney }) => followLateMoney(context, signal),
      () => {},
    );
  };

  /** After a signature has expired: deletes the stored signature and loads new options, because balances and prices may have changed. */
  const payAgain = () => {
    memory.forgetPending(page.paymentId);
    void loadOptions(context, begin());
  };

  return {
    getFlow: () => flow,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start() {
      if (flow.step.at === 'ended') return settle();
      resume(context);
      void followStatus({
        ...deps,
        known: () => flow.payment.status,
        holdMs: () => (isWaitingForLink(flow) ? ASK_AGAIN_MS : undefined),
        onStatus: (body, knew) => {
          reportStatus(context, body, knew);
          if (hasAddress || lacksDetails(flow)) void learnDetails(context, life.signal);
        },
        onConnection: (connection) => dispatch({ type: 'connection', connection }),
        signal: life.signal,
      });
    },
    stop() {
      life.abort();
      wallets.get(walletIn(flow.step)?.id ?? '')?.close?.();
      unwatch();
      context.gotAnswer();
      listeners.clear();
    },
    foundWallets(found) {
      for (const wallet of found) wallets.set(wallet.id, wallet);
      const cards = found.map(cardOf);
      const isLast = ({ key }: { key: string }) => key === memory.lastWallet;
      const sorted = [...cards.filter(isLast), ...cards.filter((card) => !isLast(card))];
      dispatch({ type: 'wallets_found', wallets: sorted });
    },
    connect(walletId) {
      const wallet = wallets.get(walletId);
      if (wallet === undefined) return;
      unwatch();
      unwatch = watchWallet(context, wallet);
      // The code for paying is loaded in advance, so that it is there when the payer has chosen an option.
      loadPaying().catch(() => {});
      void connectWallet(context, wallet);
    },
    choose: (optionId) => dispatch({ type: 'choose', optionId }),
    pay: () => {
      loadPaying().then(
        ({ makePayment }) => makePayment(context),
        () => dispatch({ type: 'stumbled', notice: 'away' }),
      );
    },
    send: () => dispatch({ type: 'send' }),
    sendToken: (asset) => sendToken(context, asset),
    checkAgain() {
      const signal = begin();
      dispatch({ type: 'options_asked' });
      void loadOptions(context, signal);
    },
    back() {
      const { step } = flow;
      dispatch({ type: 'back' });
      if (flow.step === step) return;
      if (step.at === 'transfer') memory.rememberTransfer(page.paymentId, null);
      void keepPricesFresh(context, begin());
    },
    cancel: () => void cancel(context),
    mailReceipt: (to) => deps.gateway.mailReceipt(to, life.signal),
  };
}

/** The code for paying. It is loaded on demand, because most visitors of the page never pay on it. */
function loadPaying() {
  return import('./make-payment.ts');
}

/**
 * Shows the deposit address of a token and follows the money sent to it. This code is loaded on demand, because most payers use a
 * wallet in the browser.
 */
function sendToken(context: CheckoutContext, asset: string): void {
  const { dispatch, begin } = context;
  const signal = begin();
  dispatch({ type: 'address_asked', asset });
  import('./follow-deposit.ts').then(
    ({ followDeposit }) => followDeposit(context, asset, signal),
    () => signal.aborted || dispatch({ type: 'stumbled', notice: 'away' }),
  );
}

/**
 * True if the payment is being paid on another page, so that the task of this page must end. A task that follows a transfer to a
 * deposit address continues.
 */
function isOvertaken({ step: before }: Flow, { step }: Flow, { type }: FlowEvent): boolean {
  return type === 'status' && step.at === 'confirming' && before.at !== 'confirming' && before.at !== 'transfer';
}

function isLapsed(before: Flow, after: Flow): boolean {
  return before.payment.status === 'processing' && after.payment.status === 'requires_action';
}

function isWaitingForLink({ payment: { status, transaction } }: Flow): boolean {
  return status === 'processing' && transaction === null;
}

/** After a reload: delivers stored signatures, warns that a request may still be open in the wallet, or continues a transfer. */
function resume(context: CheckoutContext): void {
  const { page, memory, flow, dispatch, begin } = context;
  const pending = memory.pending(page.paymentId);
  const asset = page.paidInto ?? memory.transfer(page.paymentId);
  if (pending === null && asset !== null) sendToken(context, asset);
  if (pending === null || flow().step.at !== 'ready') return;
  const { optionId, results, txId } = pending;
  if (results === null) {
    dispatch({ type: 'stumbled', notice: 'maybePending' });
    return;
  }
  const signal = begin();
  dispatch({ type: 'authorised', choice: null, txId });
  void deliver(context, { optionId, results, choice: null }, signal);
}

async function cancel(context: CheckoutContext): Promise<void> {
  const { gateway, flow, dispatch, begin, random, outside } = context;
  if (!canCancel(flow())) return;
  const signal = begin();
  dispatch({ type: 'cancelling' });
  for (let attempt = 0; attempt < MAX_CANCELS; attempt += 1) {
    const answer = await gateway.cancel(signal);
    if (signal.aborted) return;
    if (answer.is === 'ok') {
      const status = { status: 'cancelled', isFinal: true, info: null } as const;
      return dispatch({ type: 'status', status, knew: flow().payment.status });
    }
    if (answer.is === 'refused') break;
    await pause(backoffMs(attempt, random), signal, outside);
  }
  if (!(await learnStatus(context, signal))) dispatch({ type: 'cancel_refused' });
}
