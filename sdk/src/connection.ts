import { ApiError, ConnectionError, type Refusal, type TillError } from './errors.ts';
import { type Interruption, pauseMs, sleep } from './retry.ts';
import { hexOf, webCrypto } from './web-crypto.ts';

export interface TillOptions {
  /** The URL of the gateway, such as `https://till.example`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The id of the merchant whose payments, refunds and receipts the calls concern. A call can name another merchant. */
  readonly merchantId?: string;
  /** The version of the API for all calls. Default: the version that the partner has pinned. */
  readonly apiVersion?: string;
  /** How many times a request is sent again, at most, after temporary failures. Default: 4. */
  readonly maxRetries?: number;
  /** The timeout of one HTTP request; a repeated request has its own. Default: 30,000 ms. */
  readonly timeoutMs?: number;
  /** The function that sends the requests. Default: the `fetch` of the runtime. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CallOptions {
  readonly merchantId?: string;
  /**
   * The Idempotency-Key of a POST. Default: a random key. Pass your own, such as the order's id, so that the same call after a restart
   * of your program has no second effect.
   */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** The parameters of a query. A list becomes a repeated parameter; an undefined value is left out. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly isOfMerchant?: boolean;
  /** False if a second request could have a second effect, or get another answer. It is then not sent again after a lost answer. */
  readonly isRepeatable?: boolean;
  /** The `ETag` of the last answer. If the resource has not changed since, the answer is 304. */
  readonly etag?: string | undefined;
  readonly holdMs?: number;
  /** Called with each temporary failure. If given, the request is repeated after temporary failures without a limit. */
  readonly onInterruption?: Interruption;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body. Undefined if the status is 304. */
  readonly body: T;
}

export type Connection = ReturnType<typeof connect>;

const MAX_RETRIES = 4;
const TIMEOUT_MS = 30_000;
const KEY_BYTES = 16;
/** Statuses of temporary failures of the gateway or of a proxy. */
const PASSING = [502, 503, 504];
const NOT_MODIFIED = 304;

/** The requests of one client. The API key stays in this closure, so that logging the client does not reveal it. */
export function connect(options: TillOptions) {
  const { apiKey, apiVersion, maxRetries = MAX_RETRIES, timeoutMs = TIMEOUT_MS } = options;
  const base = baseOf(options.baseUrl);
  const request = options.fetch ?? ((url, init) => fetch(url, init));
  // The API key is checked here, because the runtime's own error about an invalid header would contain the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key: till_test_… or till_live_…, without white space.');
  }

  async function send<T>(call: Call, own: CallOptions = {}): Promise<Answer<T>> {
    const { signal } = own;
    const idempotencyKey = call.method === 'POST' ? (own.idempotencyKey ?? (await newKey())) : undefined;
    const url = `${base}${call.path}${queryText(call.query)}`;
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    // `new Headers` throws for a value that is not valid in a header, before anything is sent.
    const headers = new Headers(
      given({
        Accept: 'application/json',
        'Api-Key': apiKey,
        'Pay-Version': apiVersion,
        'Merchant-Id': call.isOfMerchant ? merchantOf(own) : undefined,
        'Idempotency-Key': idempotencyKey,
        'Content-Type': body === undefined ? undefined : 'application/json',
        'If-None-Match': call.etag,
      }),
    );
    // Redirects are not followed, because the API key would be sent to another host.
    const init: RequestInit = { method: call.method, headers, redirect: 'manual', ...(body !== undefined && { body }) };
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await attemptOnce<T>({
        url,
        init,
        signal,
        limitMs: timeoutMs + (call.holdMs ?? 0),
        idempotencyKey,
      });
      if (!('error' in outcome)) return outcome;
      const { error } = outcome;
      const isPatient = call.onInterruption !== undefined;
      const isLast = attempt >= maxRetries && !isPatient;
      const waitMs = isLast || !mayPass(error, call) ? undefined : pauseMs(attempt, error, isPatient);
      if (waitMs === undefined) throw error;
      call.onInterruption?.(error, waitMs);
      await sleep(waitMs, signal);
    }
  }

  async function attemptOnce<T>(input: Attempt): Promise<Answer<T> | { readonly error: TillError }> {
    const { url, init, signal, limitMs, idempotencyKey } = input;
    signal?.throwIfAborted();
    const limit = new AbortController();
    const abort = () => limit.abort(signal?.reason);
    const timer = setTimeout(() => limit.abort(new Error(`There was no answer within ${limitMs} ms.`)), limitMs);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const response = await request(url, { ...init, signal: limit.signal });
      return read<T>(response, await response.text(), idempotencyKey);
    } catch (cause) {
      signal?.throwIfAborted();
      return { error: new ConnectionError('The gateway did not answer.', { cause, idempotencyKey }) };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  function merchantOf(own: CallOptions): string {
    const id = own.merchantId ?? options.merchantId;
    if (id === undefined) throw new TypeError('merchantId is missing: give it to createTill or to the call.');
    return id;
  }

  return {
    send,
    /** Sends one request to a public route, without the API key. Returns the answer, whatever its status is. */
    async visit(path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
      const init = { headers: { Accept: 'application/json', ...headers }, redirect: 'manual' } as const;
      try {
        return await request(`${base}${path}`, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      } catch (cause) {
        throw new ConnectionError('The gateway did not answer.', { cause, idempotencyKey: undefined });
      }
    },
    ask: async <T>(call: Call, own?: CallOptions): Promise<T> => (await send<T>(call, own)).body,
  };
}

interface Attempt {
  readonly url: string;
  readonly init: RequestInit;
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  readonly idempotencyKey: string | undefined;
}

/** Checks an id that becomes a part of a path. Another text, such as `..`, would lead to another route. */
export function segment(id: string): string {
  if (typeof id === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(id)) return id;
  throw new TypeError('An id is 1 to 128 letters, digits, _ and -.');
}

/** True if the failure may be temporary and repeating the request is safe. */
function mayPass(error: TillError, { isRepeatable = true, onInterruption }: Call): boolean {
  if (!(error instanceof ApiError)) return isRepeatable;
  // 429: the gateway refused the request before it did anything. 409 with Retry-After: the first request with the same key is still
  // running.
  if (error.status === 429 || (error.status === 409 && error.retryAfterS !== undefined)) return true;
  const isPatient = onInterruption !== undefined && error.status >= 500;
  return isRepeatable && (isPatient || PASSING.includes(error.status));
}

function read<T>(
  { status, ok, headers }: Response,
  json: string,
  idempotencyKey: string | undefined,
): Answer<T> | { readonly error: TillError } {
  if (status === NOT_MODIFIED) return { status, headers, body: undefined as T };
  const body = parse(json);
  const isObject = typeof body === 'object' && body !== null;
  if (ok && isObject) return { status, headers, body: body as T };
  const answer = {
    status,
    requestId: headers.get('request-id') ?? undefined,
    retryAfterS: secondsOf(headers.get('retry-after')),
  };
  const { code, message: text, issues, details } = (isObject ? body : {}) as Partial<Refusal>;
  if (!ok && typeof code === 'string' && typeof text === 'string') {
    const refusal = { code, message: text, issues: Array.isArray(issues) ? issues : [], ...(details && { details }) };
    return { error: new ApiError(refusal, answer) };
  }
  const message = `The answer, with status ${status}, is not one of Till's: is baseUrl the address of a gateway?`;
  // After an unreadable answer with a success status, the gateway may have carried out the request: a proxy may have replaced its answer.
  if (ok) return { error: new ConnectionError(message, { idempotencyKey }) };
  return { error: new ApiError({ code: 'unreadable_answer', message }, answer) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

function baseOf(text: string): string {
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl must be an http or https URL without credentials, query and fragment.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function queryText(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => [name, String(each)] as [string, string]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function given(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
}

async function newKey(): Promise<string> {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(KEY_BYTES));
  return `till-sdk-${hexOf(bytes)}`;
}
