import { backoffMs, pause } from '../shared/backoff.ts';
import type { Answer, GatewayOption, WalletRpc } from './api.ts';
import type { CheckoutContext } from './checkout-context.ts';
import { afterRefusal, deliver } from './deliver.ts';
import { type Choice, choiceOf } from './flow-state.ts';
import { PayError } from './pay.ts';
import { outcomeOf, performActions } from './perform-actions.ts';
import type { Provider, Wallet } from './wallets.ts';

const MAX_FETCHES = 5;

/**
 * Handles the pay button. If the token needs an approval first, the first press only shows the explanation, and the second press
 * pays.
 */
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
    // If the code for the estimate cannot be loaded, the page only says that there is a fee.
    const setup = await import('./setup.ts').catch(() => null);
    return setup?.estimateSetup(context, wallet, choice.option, signal);
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

async function authorise(context: CheckoutContext, wallet: Wallet, choice: Choice, signal: AbortSignal): Promise<void> {
  const { page, memory, dispatch, expectAnswer, gotAnswer } = context;
  const { provider } = wallet;
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
    untilMined: async (action, txId) => {
      const { isSetUp, untilMined } = await import('./setup.ts').catch(() => {
        throw new PayError('away');
      });
      const isPermitted = wallet.kind === 'paired' ? () => isSetUp(context, choice, signal) : undefined;
      await untilMined({ provider, action, txId, isPermitted, signal });
    },
    signal,
  }).catch((error: unknown) => {
    // If the wallet declined or failed, no request for this payment is open in it. If the wallet went silent, the outcome is unknown.
    const isUnknown = error instanceof PayError && error.notice === 'maybePending';
    if (isSend && !isUnknown) memory.forgetPending(page.paymentId);
    throw error;
  });
  // If the payer has gone back meanwhile, a signature is dropped, but a sent transaction still counts.
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

const WATCH_MS = 3_000;
const MAX_WATCHES = 300;

/** Watches a transaction that pays in coin for a revert. The gateway cannot report the revert, because it sees only coin that arrives. */
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
