import { backoffMs, pause } from '../shared/backoff.ts';
import { type Deposit, fieldIn, isAmount, read } from './api.ts';
import { type CheckoutContext, learnStatus } from './checkout-context.ts';

/** The pause between two requests for the progress of a transfer to a deposit address. */
const INTERVAL_MS = 2_000;

/**
 * Opens the deposit address of a token and follows the money that arrives there, until the task is aborted. This module is loaded on
 * demand.
 */
export async function followDeposit(context: CheckoutContext, asset: string, signal: AbortSignal): Promise<void> {
  const { page, gateway, memory, outside, random, flow, dispatch } = context;
  for (let failures = 0; !signal.aborted; ) {
    const answer = read(await gateway.address(asset, signal), depositIn);
    if (signal.aborted) return;
    if (answer.is === 'refused') {
      const isHere = flow().step.at === 'transfer';
      // If the payment can no longer be paid, its status explains the refusal.
      if (isHere && !(await learnStatus(context, signal))) dispatch({ type: 'stumbled', notice: 'addressFailed' });
      return;
    }
    if (answer.is === 'ok') {
      failures = 0;
      memory.rememberTransfer(page.paymentId, asset);
      dispatch({ type: 'address_came', deposit: answer.value });
      await pause(INTERVAL_MS, signal);
      continue;
    }
    await pause(answer.retryAfterMs ?? backoffMs(failures, random), signal, outside);
    failures += 1;
  }
}

function depositIn(body: unknown): Deposit | undefined {
  const isRead =
    /^eip155:\d+:0x[0-9a-fA-F]{40}$/.test(String(fieldIn(body, 'address'))) &&
    /^ethereum:0x[\w@/?=&]+$/.test(String(fieldIn(body, 'uri'))) &&
    ['expiresAt', 'confirmations', 'confirmed'].every((name) => Number.isInteger(fieldIn(body, name))) &&
    ['amount', 'arrived'].every((name) => isAmount(fieldIn(body, name)));
  return isRead ? (body as Deposit) : undefined;
}
