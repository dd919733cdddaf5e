import { chainOf, transactionPath } from '../shared/networks.ts';
import type { ServerClock } from '../shared/server-clock.ts';
import type { Gateway, StatusBody } from './api.ts';
import type { FlowEvent, StatusNews } from './flow.ts';
import type { Flow } from './flow-state.ts';
import type { PaymentPage, PaymentStatus } from './page-state.ts';
import type { Memory } from './remembered.ts';
import type { Wallet } from './wallets.ts';

export interface CheckoutDeps {
  readonly page: PaymentPage;
  readonly gateway: Gateway;
  readonly clock: ServerClock;
  readonly memory: Memory;
  readonly isOnline: () => boolean;
  /** Fires `offline` when the browser loses its connection, and `wake` when it is online again or the page becomes visible again. */
  readonly outside: EventTarget;
  readonly random: () => number;
}

export interface CheckoutContext extends CheckoutDeps {
  flow(): Flow;
  dispatch(event: FlowEvent): void;
  /** Starts the next task. The previous task is aborted, and its late results are ignored. */
  begin(): AbortSignal;
  /** Shows a hint if the wallet does not answer for a while. */
  expectAnswer(): void;
  gotAnswer(): void;
  wallet(id: string): Wallet | undefined;
}

/** Dispatches a status answer. `knew` is the status that the page knew when it sent the request. */
export function reportStatus({ dispatch }: CheckoutContext, body: StatusBody, knew: PaymentStatus): void {
  const { status, isFinal, info, failureCode = null } = body;
  const explorerUrl = info && transactionPath(chainOf(info.optionAmount.unit), info.txId);
  const news: StatusNews = { status, isFinal, failureCode, info: info && { ...info, explorerUrl } };
  dispatch({ type: 'status', status: news, knew });
}

/** Fetches the details that the status answer does not have. */
export async function learnDetails({ gateway, dispatch }: CheckoutContext, signal: AbortSignal): Promise<void> {
  const answer = await gateway.details(signal);
  if (answer.is === 'ok' && !signal.aborted) dispatch({ type: 'details', details: answer.value });
}

/** Fetches the status and dispatches it. Returns true if the status explains why nothing can be paid now, or if the task was aborted. */
export async function learnStatus(context: CheckoutContext, signal: AbortSignal): Promise<boolean> {
  const knew = context.flow().payment.status;
  const answer = await context.gateway.status(null, signal);
  if (signal.aborted) return true;
  if (answer.is !== 'ok') return false;
  reportStatus(context, answer.value, knew);
  return answer.value.status !== 'requires_action';
}
