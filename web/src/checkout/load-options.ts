import { backoffMs, pause } from '../shared/backoff.ts';
import { accountsOf } from '../shared/networks.ts';
import type { Offer } from './api.ts';
import { type CheckoutContext, learnStatus } from './checkout-context.ts';

/** Asks for the account's options until the gateway answers. Meanwhile the page shows any connection problem, and the payer can go back. */
export async function loadOptions(context: CheckoutContext, signal: AbortSignal): Promise<void> {
  const { page, gateway, memory, outside, random, flow, dispatch } = context;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const { step } = flow();
    if (step.at !== 'loading') return;
    const answer = await gateway.options(accountsOf(step.session.account, page), signal);
    if (signal.aborted) return;
    if (answer.is === 'ok' && isPayable(answer.value)) {
      dispatch({ type: 'options_came', ...answer.value, preferredUnit: memory.lastUnit });
      return keepPricesFresh(context, signal);
    }
    if (answer.is !== 'unavailable') {
      if (answer.is === 'refused' && answer.code === 'sanctioned_user') return dispatch({ type: 'refused' });
      // The payment can no longer be paid, or the gateway refused the request. The payment's status may explain either.
      if (!(await learnStatus(context, signal))) dispatch({ type: 'stumbled', notice: 'walletError' });
      return;
    }
    await pause(answer.retryAfterMs ?? backoffMs(attempt, random), signal, outside);
  }
}

/** The minimum time between two refreshes of the options, even if a quote expires sooner. */
const MIN_REFRESH_MS = 20_000;
const BEFORE_END_MS = 10_000;

/** Fetches new options with new quotes before the present quotes expire. A quote is valid for a minute. */
export async function keepPricesFresh(context: CheckoutContext, signal: AbortSignal): Promise<void> {
  const { page, gateway, clock, flow, dispatch } = context;
  for (;;) {
    const { step } = flow();
    const ends = step.at === 'choosing' ? step.options.flatMap(({ expiresAt }) => expiresAt ?? []) : [];
    if (ends.length === 0) return;
    const untilEndMs = Math.min(...ends) * 1000 - clock.nowMs();
    await pause(Math.max(MIN_REFRESH_MS, untilEndMs - BEFORE_END_MS), signal);
    const now = flow().step;
    if (signal.aborted || now.at !== 'choosing') return;
    const answer = await gateway.options(accountsOf(now.session.account, page), signal);
    if (signal.aborted) return;
    if (answer.is === 'ok' && isPayable(answer.value)) {
      dispatch({ type: 'options_came', ...answer.value, preferredUnit: null });
    }
  }
}

function isPayable({ status }: Offer): boolean {
  return status === 'requires_action';
}
