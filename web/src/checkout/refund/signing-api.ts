import {
  type Answer,
  actionsIn,
  ask,
  type ConnectionInput,
  fieldIn,
  read,
  TIMEOUT_MS,
  type WalletRpc,
} from '../api.ts';
import type { RefundView } from '../page-state.ts';

export interface SigningGateway {
  refund(signal: AbortSignal): Promise<Answer<RefundView>>;
  actions(signal: AbortSignal): Promise<Answer<readonly WalletRpc[]>>;
  /** Sends the wallet's result to the gateway. Repeated calls with the same result are idempotent. */
  confirm(result: string, signal: AbortSignal): Promise<Answer<RefundView>>;
}

export function createSigningGateway(input: ConnectionInput & { readonly code: string }): SigningGateway {
  const base = `/v1/gateway/refund/${encodeURIComponent(input.code)}`;
  const post = (path: string, body: unknown, signal: AbortSignal) =>
    ask(input, base + path, { method: 'POST', body: JSON.stringify(body) }, signal, TIMEOUT_MS);
  return {
    refund: async (signal) => read(await ask(input, base, { method: 'GET' }, signal, TIMEOUT_MS), refundIn),
    actions: async (signal) => read(await post('/actions', {}, signal), actionsIn),
    confirm: async (result, signal) => read(await post('/confirm', { result }, signal), refundIn),
  };
}

function refundIn(body: unknown): RefundView | undefined {
  const isRead = typeof fieldIn(body, 'status') === 'string' && typeof fieldIn(body, 'amount') === 'object';
  return isRead ? (body as RefundView) : undefined;
}
