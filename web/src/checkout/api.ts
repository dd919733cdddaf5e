import { eitherSignal } from '../shared/either-signal.ts';
import type { LateMoney } from '../shared/late-money.ts';
import type { Amount } from '../shared/money.ts';
import type { Attempt, PaidInfo, PaymentStatus, PaymentView } from './page-state.ts';

/**
 * The outcome of a request. `unavailable` means that the gateway gave no usable answer. Such a request does not count as refused, and
 * it is worth a retry; a refused request is not.
 */
export type Answer<T> =
  | { readonly is: 'ok'; readonly value: T }
  | { readonly is: 'refused'; readonly status: number; readonly code: string }
  | { readonly is: 'unavailable'; readonly retryAfterMs: number | null };

export interface GatewayOption {
  readonly id: string;
  /** CAIP-10. */
  readonly account: string;
  readonly amount: Amount;
  readonly etaS: number;
  readonly actions: readonly OptionAction[];
  /** Unix seconds. */
  readonly expiresAt: number | null;
  /** The exchange rate of the amount; null at par. */
  readonly rate?: OptionRate | null;
}

export interface OptionRate {
  readonly base: string;
  readonly quote: string;
  /** The price of one `base` in `quote`, as a decimal. */
  readonly value: string;
  readonly sources: readonly string[];
}

/** A token and network that the payment accepts, whether or not the account has it. */
export interface AcceptedToken {
  readonly symbol: string;
  readonly networkName: string;
}

export interface Offer {
  readonly options: readonly GatewayOption[];
  /** The tokens that the payment accepts. Null if the gateway does not list them. */
  readonly accepted: readonly AcceptedToken[] | null;
  /** The reason why the gateway offers no option to any payer, as the gateway reports it: `{ reason }`. */
  readonly stopped: unknown;
  /** Options are offered in `requires_action` alone. In every other status `options` is empty. */
  readonly status: PaymentStatus;
}

/** A deposit address of the payment, and the money that has arrived there. */
export interface Deposit {
  /** CAIP-10. */
  readonly address: string;
  readonly amount: Amount;
  /** A transfer of the missing amount, as an EIP-681 URI. */
  readonly uri: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** The number of blocks after which the money is final. */
  readonly confirmations: number;
  readonly arrived: Amount;
  /** The number of blocks since the whole amount arrived; 0 while a part is missing. */
  readonly confirmed: number;
}

export type OptionAction =
  | { readonly type: 'walletRpc'; readonly data: WalletRpc }
  | { readonly type: 'build'; readonly data: { readonly data: string } };

export interface WalletRpc {
  readonly chain_id: string;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface StatusBody {
  readonly status: PaymentStatus;
  readonly isFinal: boolean;
  readonly pollInMs: number | null;
  readonly info: Omit<PaidInfo, 'explorerUrl'> | null;
  readonly failureCode?: string | null;
}

/** Details that the status answer does not have: the buyer, the transaction, a refused attempt, and late money. */
export type PaymentDetails = Pick<PaymentView, 'buyer' | 'transaction' | 'attempt' | 'lateMoney'>;

export interface ReceiptRecipient {
  readonly email: string;
  readonly language: string;
}

export interface Gateway {
  details(signal: AbortSignal): Promise<Answer<PaymentDetails>>;
  options(accounts: readonly string[], signal: AbortSignal): Promise<Answer<Offer>>;
  fetchActions(option: GatewayOption, signal: AbortSignal): Promise<Answer<readonly WalletRpc[]>>;
  /** Opens a deposit address for a token (CAIP-19). Later calls return the same address with its progress. */
  address(asset: string, signal: AbortSignal): Promise<Answer<unknown>>;
  confirm(optionId: string, results: readonly string[], signal: AbortSignal): Promise<Answer<StatusBody>>;
  /** A long poll: the gateway holds the request while the status is `known`, at most for `holdMs`. */
  status(known: PaymentStatus | null, signal: AbortSignal, holdMs?: number): Promise<Answer<StatusBody>>;
  cancel(signal: AbortSignal): Promise<Answer<unknown>>;
  mailReceipt(to: ReceiptRecipient, signal: AbortSignal): Promise<Answer<unknown>>;
}

export interface GatewayInput extends ConnectionInput {
  readonly paymentId: string;
}

export interface ConnectionInput {
  readonly appId: string;
  /** A random id of this visit. It groups requests and does not identify the payer. */
  readonly clientId: string;
  readonly fetch: typeof fetch;
  /** Called with the server's time in every answer. */
  readonly onServerTime: (serverMs: number) => void;
}

/**
 * The time for which the gateway is asked to hold a long poll. The gateway's maximum is 25 s, and proxies close a silent connection
 * after 30 s.
 */
const HOLD_MS = 20_000;
export const TIMEOUT_MS = 15_000;
const STATUSES: readonly string[] = ['requires_action', 'processing', 'succeeded', 'failed', 'expired', 'cancelled'];

export function createGateway(input: GatewayInput): Gateway {
  const base = `/v1/gateway/payment/${encodeURIComponent(input.paymentId)}`;
  const post = (path: string, body: unknown, signal: AbortSignal) =>
    ask(input, base + path, { method: 'POST', body: JSON.stringify(body) }, signal, TIMEOUT_MS);

  return {
    details: async (signal) => read(await ask(input, base, { method: 'GET' }, signal, TIMEOUT_MS), detailsIn),
    options: async (accounts, signal) =>
      read(await post('/options?includePaymentInfo=true', { accounts }, signal), offerIn),
    fetchActions: async ({ id, actions }, signal) => {
      const inline = actions.flatMap((action) => (action.type === 'walletRpc' ? [action.data] : []));
      if (inline.length === actions.length) return { is: 'ok', value: inline };
      const [build] = actions;
      const data = build?.type === 'build' ? build.data.data : '';
      const answer = await post('/fetch', { optionId: id, data }, signal);
      return read(answer, actionsIn);
    },
    address: (asset, signal) => post('/address', { asset }, signal),
    confirm: async (optionId, results, signal) => {
      const body = { optionId, results: results.map((result) => ({ type: 'walletRpc', data: [result] })) };
      return read(await post('/confirm', body, signal), statusIn);
    },
    status: async (known, signal, holdMs = HOLD_MS) => {
      const headers: Record<string, string> = known === null ? {} : { 'If-None-Match': `"${known}"` };
      const path = `${base}/status?maxPollMs=${known === null ? 0 : holdMs}`;
      const answer = await ask(input, path, { method: 'GET', headers }, signal, HOLD_MS + TIMEOUT_MS);
      // 304: the status has not changed.
      if (answer.is === 'refused' && answer.status === 304 && known !== null) {
        return { is: 'ok', value: { status: known, isFinal: false, pollInMs: null, info: null } };
      }
      return read(answer, statusIn);
    },
    cancel: (signal) => post('/cancel', {}, signal),
    mailReceipt: (to, signal) => post('/receipt-email', to, signal),
  };
}

export async function ask(
  { fetch, appId, clientId, onServerTime }: ConnectionInput,
  path: string,
  init: { readonly method: string; readonly body?: string; readonly headers?: Record<string, string> },
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Answer<unknown>> {
  try {
    const response = await fetch(path, {
      ...init,
      headers: {
        ...(init.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        'App-Id': appId,
        'Client-Id': clientId,
        ...init.headers,
      },
      cache: 'no-store',
      credentials: 'omit',
      signal: eitherSignal(signal, AbortSignal.timeout(timeoutMs)),
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) onServerTime(date);
    if (isTransient(response.status)) return { is: 'unavailable', retryAfterMs: retryAfterMs(response.headers) };
    const body: unknown = response.status === 304 ? null : await response.json();
    if (response.ok) return { is: 'ok', value: body };
    return { is: 'refused', status: response.status, code: codeIn(body) };
  } catch {
    return { is: 'unavailable', retryAfterMs: null };
  }
}

function isTransient(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** The wait that `Retry-After` asks for, at most one minute: a longer wait would stop the page. */
function retryAfterMs(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 60) * 1000 : null;
}

/**
 * Parses the body of an answer. A body of another shape counts as unavailable: it comes from a proxy, a captive portal, or another
 * version of the gateway during a deployment.
 */
export function read<T>(answer: Answer<unknown>, parse: (body: unknown) => T | undefined): Answer<T> {
  if (answer.is !== 'ok') return answer;
  const value = parse(answer.value);
  return value === undefined ? { is: 'unavailable', retryAfterMs: null } : { is: 'ok', value };
}

export function fieldIn(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
}

function codeIn(body: unknown): string {
  const code = fieldIn(body, 'code');
  return typeof code === 'string' ? code : 'unknown';
}

function listIn<T>(body: unknown, name: string, isItem: (item: unknown) => item is T): readonly T[] | undefined {
  const list = fieldIn(body, name);
  return Array.isArray(list) && list.every(isItem) ? list : undefined;
}

export function actionsIn(body: unknown): readonly WalletRpc[] | undefined {
  return listIn(body, 'actions', isRpcAction)?.map((action) => action.data);
}

function isStatus(value: unknown): value is PaymentStatus {
  return typeof value === 'string' && STATUSES.includes(value);
}

function statusIn(body: unknown): StatusBody | undefined {
  const isRead = isStatus(fieldIn(body, 'status')) && typeof fieldIn(body, 'isFinal') === 'boolean';
  return isRead ? (body as StatusBody) : undefined;
}

function offerIn(body: unknown): Offer | undefined {
  const options = listIn(body, 'options', isOption);
  const info = fieldIn(body, 'info');
  const status = fieldIn(info, 'status');
  if (options === undefined || !isStatus(status)) return undefined;
  return { options, accepted: listIn(info, 'accepted', isAccepted) ?? null, stopped: fieldIn(info, 'stopped'), status };
}

function detailsIn(body: unknown): PaymentDetails | undefined {
  const buyer = fieldIn(body, 'buyer');
  const transaction = fieldIn(body, 'transaction');
  const isRead =
    (buyer === null || typeof fieldIn(buyer, 'accountCaip10') === 'string') &&
    (transaction === null || typeof fieldIn(transaction, 'txId') === 'string');
  if (!isRead) return undefined;
  const attempt = fieldIn(body, 'attempt');
  const lateMoney = listIn(body, 'lateMoney', isLateMoney);
  return { buyer, transaction, attempt: isAttempt(attempt) ? attempt : null, lateMoney } as PaymentDetails;
}

function isLateMoney(item: unknown): item is LateMoney {
  return (
    ['reason', 'status'].every((name) => typeof fieldIn(item, name) === 'string') && isAmount(fieldIn(item, 'amount'))
  );
}

function isAttempt(value: unknown): value is Attempt {
  return typeof fieldIn(value, 'refusal') === 'string' && Number.isFinite(fieldIn(value, 'triesUntil'));
}

function isAccepted(item: unknown): item is AcceptedToken {
  return typeof fieldIn(item, 'symbol') === 'string' && typeof fieldIn(item, 'networkName') === 'string';
}

export function isAmount(amount: unknown): amount is Amount {
  return (
    typeof fieldIn(amount, 'unit') === 'string' &&
    /^\d+$/.test(String(fieldIn(amount, 'value'))) &&
    typeof fieldIn(amount, 'display') === 'object'
  );
}

function isOption(item: unknown): item is GatewayOption {
  return (
    typeof fieldIn(item, 'id') === 'string' &&
    typeof fieldIn(item, 'account') === 'string' &&
    Array.isArray(fieldIn(item, 'actions')) &&
    isAmount(fieldIn(item, 'amount'))
  );
}

function isRpcAction(item: unknown): item is { data: WalletRpc } {
  const data = fieldIn(item, 'data');
  return (
    fieldIn(item, 'type') === 'walletRpc' &&
    typeof fieldIn(data, 'chain_id') === 'string' &&
    typeof fieldIn(data, 'method') === 'string' &&
    Array.isArray(fieldIn(data, 'params'))
  );
}
