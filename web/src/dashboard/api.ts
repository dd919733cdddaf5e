/** Requests to the API of this origin, as the signed-in person. */

export type Mode = 'test' | 'live';

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The pause that the answer asks for before the next request. Undefined if it asks for none. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    retryAfter: string | null,
    body: { code?: string; message?: string; details?: Record<string, unknown> },
  ) {
    super(body.message ?? '');
    this.status = status;
    this.code = body.code ?? '';
    this.details = body.details ?? {};
    this.retryAfterMs = retryAfter === null ? undefined : Number(retryAfter) * 1_000;
  }

  /** True if the first passkey can only be added after signing in with a new link. */
  get needsLink(): boolean {
    return this.details.needs === 'link';
  }

  /** True if the change is allowed after the person has verified the passkey again. */
  get needsPasskey(): boolean {
    return this.details.needs === 'passkey';
  }
}

export interface Asking {
  readonly body?: object;
  readonly merchantId?: string | undefined;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** A choice stored in the browser. Null if there is none, or if the browser forbids storage: choices then last as long as the page. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // If the browser forbids storage, the choice lasts as long as the page.
  }
}

const MODE_KEY = 'till.mode';
const PARTNER_KEY = 'till.partner';

/** The mode of the last visit. It is test at the first visit, or if the browser forbids storage. */
export function readMode(): Mode {
  return readStored(MODE_KEY) === 'live' ? 'live' : 'test';
}

let mode = readMode();
let partnerId = readStored(PARTNER_KEY) ?? undefined;

export function setMode(next: Mode): void {
  mode = next;
  store(MODE_KEY, next);
}

/** The partner that the signed-in person of the operator has selected. */
export function readPartner(): string | undefined {
  return partnerId;
}

export function setPartner(next: string | undefined): void {
  partnerId = next;
  store(PARTNER_KEY, next);
}

export async function call<T>(method: string, path: string, asking: Asking = {}): Promise<T> {
  const response = await send(method, path, asking);
  return (await response.json().catch(() => ({}))) as T;
}

/** Sends a request. Throws an `ApiProblem` if the gateway refuses it. */
export async function send(method: string, path: string, asking: Asking = {}): Promise<Response> {
  const { body, merchantId, idempotencyKey, signal } = asking;
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: {
      'Session-Mode': mode,
      ...(partnerId !== undefined && { 'Partner-Id': partnerId }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(merchantId !== undefined && { 'Merchant-Id': merchantId }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new ApiProblem(response.status, response.headers.get('Retry-After'), body);
  }
  return response;
}

/** The query of a URL, such as `?a=1&b=2`, without undefined and empty values. */
export function queryText(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length === 0 ? '' : `?${query}`;
}
