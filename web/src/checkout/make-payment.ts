import { backoffMs, pause } from '../shared/backoff.ts';
import type { Answer, GatewayOption, WalletRpc } from './api.ts';
import { type CheckoutContext, learnStatus, tellStatus } from './checkout-context.ts';
import { type Choice, choiceOf, needsSetup } from './flow.ts';
import { loadOptions } from './load-options.ts';
import { outcomeOf, PayError, performActions } from './pay.ts';
import type { Provider, Wallet } from './wallets.ts';

/** Delivery is retried for about ten minutes. By then the payment has ended. */
const MAX_DELIVERIES = 30;
/** The gateway's node may see the payer's permission later than the wallet's node. */
const MAX_SETUP_LAGS = 6;
const MAX_FETCHES = 5;

/** The payer agreed: first to the explanation of a setup, if one is needed, then to the payment. */
export async function makePayment(context: CheckoutContext): Promise<void> {
  const { flow, dispatch, begin, memory, gotAnswer } = context;
  const { step } = flow();
  if (step.at !== 'choosing' && step.at !== 'setup') return;
  const choice = choiceOf(step);
  const wallet = context.wallet(choice.session.wallet.id);
  if (wallet === undefined) return;
  const signal = begin();
  dispatch({ type: 'pay' });
  if (flow().step.at === 'setup') {
    // Without its code the cost stays unknown.
    const load = import('./estimate-setup.ts').catch(() => null);
    return (await load)?.estimateSetup(context, wallet, choice.option, signal);
  }
  memory.rememberChoice({ unit: choice.option.amount.unit, wallet: choice.session.wallet.key });
  try {
    await authorise(context, wallet, choice, signal);
  } catch (error) {
    if (signal.aborted) return;
    gotAnswer();
    dispatch({ type: 'stumbled', notice: error instanceof PayError ? error.notice : 'walletError' });
  }
}

async function authorise(
  context: CheckoutContext,
  { provider }: Wallet,
  choice: Choice,
  signal: AbortSignal,
): Promise<void> {
  const { page, memory, dispatch, expectAnswer, gotAnswer } = context;
  const { option, session } = choice;
  const answer = await fetchActions(context, option, signal);
  if (signal.aborted) return;
  if (answer.is !== 'ok') return afterRefusal(context, answer, choice, signal);
  const isSend = answer.value.at(-1)?.method === 'eth_sendTransaction';
  const results = await performActions({
    provider,
    account: session.account,
    actions: answer.value,
    sandbox: page.sandbox,
    onAsk: (ask) => {
      if (signal.aborted) return;
      if (ask === 'send') memory.rememberPending(page.paymentId, { optionId: option.id, results: null, txId: null });
      dispatch({ type: 'asked', ask });
      expectAnswer();
    },
    onSetupSent: (txId) => {
      if (signal.aborted) return;
      gotAnswer();
      dispatch({ type: 'setup_sent', txId });
    },
    signal,
  }).catch((error: unknown) => {
    // Declined or failed: no request of this payment is open in the wallet.
    if (isSend) memory.forgetPending(page.paymentId);
    throw error;
  });
  // A late signature is dropped. A late transaction counts, even when the payer has gone back meanwhile.
  if (signal.aborted && !isSend) return;
  const txId = isSend ? (results.at(-1) ?? null) : null;
  memory.rememberPending(page.paymentId, { optionId: option.id, results, txId });
  const ongoing = context.begin();
  dispatch({ type: 'authorised', choice, txId });
  if (txId !== null) void watchTransaction(context, provider, txId, ongoing);
  await deliver(context, { optionId: option.id, results, choice }, ongoing);
}

async function fetchActions(
  { gateway, random, outside }: CheckoutContext,
  option: GatewayOption,
  signal: AbortSignal,
): Promise<Answer<readonly WalletRpc[]>> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await gateway.fetchActions(option, signal);
    if (answer.is !== 'unavailable' || attempt === MAX_FETCHES || signal.aborted) return answer;
    await pause(answer.retryAfterMs ?? backoffMs(attempt, random), signal, outside);
  }
}

interface Delivery {
  readonly optionId: string;
  readonly results: readonly string[];
  /** Null after a reload of the page. */
  readonly choice: Choice | null;
}

/** Sends the wallet's answers to the gateway. The request is idempotent, so it is retried until there is an answer. */
export async function deliver(context: CheckoutContext, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { gateway, dispatch, random, outside } = context;
  const { optionId, results, choice } = delivery;
  let lagsLeft = choice !== null && needsSetup(choice.option) ? MAX_SETUP_LAGS : 0;
  for (let attempt = 0; attempt < MAX_DELIVERIES && !signal.aborted; attempt += 1) {
    const knew = context.flow().payment.status;
    const answer = await gateway.confirm(optionId, results, signal);
    if (signal.aborted) return;
    if (answer.is === 'ok') {
      dispatch({ type: 'delivered' });
      return tellStatus(context, answer.value, knew);
    }
    if (answer.is === 'unavailable') {
      await pause(answer.retryAfterMs ?? backoffMs(attempt, random), signal, outside);
      continue;
    }
    if (answer.code !== 'invalid_state' || lagsLeft === 0) return afterRefusal(context, answer, choice, signal);
    lagsLeft -= 1;
    await pause(1_500, signal);
  }
}

/** The gateway refused. The status of the payment takes precedence; otherwise the payer can try again. */
async function afterRefusal(
  context: CheckoutContext,
  answer: Exclude<Answer<unknown>, { is: 'ok' }>,
  choice: Choice | null,
  signal: AbortSignal,
): Promise<void> {
  const { page, memory, dispatch } = context;
  if (answer.is === 'unavailable') return dispatch({ type: 'stumbled', notice: 'away' });
  memory.forgetPending(page.paymentId);
  if (answer.code === 'sanctioned_user') return dispatch({ type: 'refused' });
  if (await learnStatus(context, signal)) return;
  if (answer.status === 422) return dispatch({ type: 'stumbled', notice: 'wrongAccount' });
  const notice = answer.code === 'invalid_state' ? 'notAccepted' : 'quoteExpired';
  if (choice === null) return dispatch({ type: 'stumbled', notice });
  // Balances, permissions and prices may have changed, so the options are loaded again.
  dispatch({ type: 'options_asked', notice });
  await loadOptions(context, signal);
}

const WATCH_MS = 3_000;
const MAX_WATCHES = 300;

/** The gateway learns of arrived coin from the chain. A failed transaction is seen here first. */
async function watchTransaction(
  { page, memory, dispatch, begin }: CheckoutContext,
  provider: Provider,
  txId: string,
  signal: AbortSignal,
): Promise<void> {
  for (let watch = 0; watch < MAX_WATCHES && !signal.aborted; watch += 1) {
    const outcome = await outcomeOf(provider, txId);
    if (signal.aborted || outcome === 'mined') return;
    if (outcome === 'reverted') {
      memory.forgetPending(page.paymentId);
      begin();
      return dispatch({ type: 'stumbled', notice: 'reverted' });
    }
    await pause(WATCH_MS, signal);
  }
}
