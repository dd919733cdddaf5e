import { hexOf, webCrypto } from './web-crypto.ts';

/** The fields that a paywall reads from a request of Node's `http` or of Express. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  /** The body, if a body parser has read it. */
  readonly rawBody?: unknown;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A request to a paywall, independent of the server's type. */
export interface Visit {
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  readonly signature: string | null;
}

export interface Ticket {
  readonly paymentId: string;
  /** Random bytes in hex. */
  readonly ticket: string;
}

export async function newTicket(): Promise<string> {
  return hexOf((await webCrypto()).getRandomValues(new Uint8Array(16)));
}

/** The payment and the ticket from the client's signature header. */
export function readTicket(signature: string): Ticket | undefined {
  try {
    const { paymentId, ticket } = JSON.parse(atob(signature)).accepted.extra;
    return /^pay_[0-9A-Z]{26}$/.test(paymentId) && /^[0-9a-f]{32}$/.test(ticket) ? { paymentId, ticket } : undefined;
  } catch {
    return undefined;
  }
}

/** The hash of a ticket and of its request. The URL's scheme is left out, because a server behind a proxy does not know it. */
export async function hashOf({ method, url, body }: Visit, ticket: string): Promise<string> {
  const { host, pathname, search } = new URL(url);
  const bodyHash = await digestOf(body);
  return digestOf(new TextEncoder().encode([ticket, method, host, pathname + search, bodyHash].join('\n')));
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const { subtle } = await webCrypto();
  return hexOf(new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}

/** The body of a Node request. Throws if no parser has read the body: reading it here would take it from the handler. */
export function bodyOf({ rawBody, body, headers }: NodeRequest): Uint8Array {
  const found = rawBody ?? body;
  if (found instanceof Uint8Array) return found;
  if (typeof found === 'string') return new TextEncoder().encode(found);
  if (found !== undefined && found !== null) return new TextEncoder().encode(JSON.stringify(found));
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (hasBody)
    throw new Error('The paywall needs the body of the request: put a parser before it, such as express.json().');
  return new Uint8Array();
}
