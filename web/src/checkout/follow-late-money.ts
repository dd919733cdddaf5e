import { pause } from '../shared/backoff.ts';
import type { CheckoutContext } from './checkout-context.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** The maximum number of requests, which take about an hour. Money that arrives later is shown only when the page is opened again. */
const MAX_CHECKS = 64;

/**
 * Asks the gateway for late money after the payment has ended, at growing intervals. The gateway reports a transfer only once its
 * block is deep enough in the chain. This module is loaded on demand.
 */
export async function followLateMoney(context: CheckoutContext, signal: AbortSignal): Promise<void> {
  const { gateway, outside, random, dispatch } = context;
  for (let check = 0; check < MAX_CHECKS && !signal.aborted; check += 1) {
    const base = Math.min(LONGEST_MS, FIRST_MS * 1.5 ** check);
    await pause(base * (0.75 + random() / 2), signal, outside);
    if (signal.aborted) return;
    const answer = await gateway.details(signal);
    if (answer.is === 'ok' && !signal.aborted) dispatch({ type: 'details', details: answer.value });
  }
}
