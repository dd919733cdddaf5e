/** Requests to the API of this origin, as the person signed in on this device. */

export type Mode = 'test' | 'live';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly mode: Mode;
  readonly merchantId?: string | undefined;
  readonly body?: object;
  readonly idempotencyKey?: string;
  /** The `ETag` of the last answer. */
  readonly etag?: string | undefined;
}

/** The outcome of a request. `unknown`: the gateway gave no answer, and the request may or may not have been carried out. */
export type Answer =
  | {
      readonly is: 'ok';
      readonly body: unknown;
      readonly etag: string | undefined;
      readonly serverMs: number | undefined;
    }
  | { readonly is: 'unchanged' }
  | { readonly is: 'refused'; readonly status: number; readonly code: string; readonly message: string }
  | { readonly is: 'unknown' };

export type Ask = (request: Request, signal: AbortSignal) => Promise<Answer>;

/** The timeout of a request, longer than the gateway holds a long poll. */
const TIMEOUT_MS = 30_000;

export const ask: Ask = async (request, signal) => {
  const { method, path, mode, merchantId, body, idempotencyKey, etag } = request;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), TIMEOUT_MS);
  const stop = () => timeout.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {
        'Session-Mode': mode,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(merchantId !== undefined && { 'Merchant-Id': merchantId }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(etag !== undefined && { 'If-None-Match': etag }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: timeout.signal,
    });
    if (response.status === 304) return { is: 'unchanged' };
    const answer = (await response.json()) as { code?: unknown; message?: unknown };
    if (!response.ok) return refusalOf(response.status, answer);
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      is: 'ok',
      body: answer,
      etag: response.headers.get('etag') ?? undefined,
      serverMs: Number.isNaN(date) ? undefined : date,
    };
  } catch {
    return { is: 'unknown' };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
};

/**
 * The outcome of a request with an error status. A 5xx, 408 or 429, a proxy's own page, and the 409 of a first request that is still
 * running are not refusals.
 */
function refusalOf(status: number, { code, message }: { code?: unknown; message?: unknown }): Answer {
  const isPassing =
    status >= 500 || status === 429 || status === 408 || (status === 409 && code === 'idempotency_conflict');
  if (isPassing || typeof code !== 'string') return { is: 'unknown' };
  return { is: 'refused', status, code, message: typeof message === 'string' ? message : '' };
}
