import { backoffMs, pause } from '../shared/backoff.ts';
import type { Answer } from './api.ts';
import { type CheckoutContext, learnStatus, reportStatus } from './checkout-context.ts';
import { type Choice, needsSetup } from './flow-state.ts';
import { loadOptions } from './load-options.ts';

/** The maximum number of attempts to deliver the wallet's answers. They take about ten minutes; by then the payment has ended. */
const MAX_DELIVERIES = 30;
/**
 * The maximum number of retries after the gateway refused a signature because the token's approval is missing. The gateway's node may
 * see the approval later than the wallet's node.
 */
const MAX_SETUP_LAGS = 6;

interface Delivery {
  readonly optionId: string;
  readonly results: readonly string[];
  /** The option that the payer chose. Null if the page was reloaded since the choice. */
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
      return reportStatus(context, answer.value, knew);
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

/**
 * Handles an answer of the gateway that is not ok. If the payment's status explains a refusal, the status is shown; otherwise the
 * payer can try again.
 */
export async function afterRefusal(
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
  // The options are loaded again, because balances, allowances and prices may have changed.
  dispatch({ type: 'options_asked', notice });
  await loadOptions(context, signal);
}
