import { hexOf, webCrypto } from './web-crypto.ts';

/** The fields that a paywall reads from a request of Node's `http` or of Express. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  /** The body, if a body parser has read it. */
  readonly rawBody?: unknown;
  readonly body?: unknown;
  /** True if the whole body has been read. */
  readonly readableEnded?: boolean;
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

/** The payment and the ticket from the client's signature header. Undefined if they cannot be read. */
export function readTicket(signature: string): Ticket | undefined {
  try {
    const { paymentId, ticket } = JSON.parse(atob(signature)).accepted.extra;
    return /^pay_[0-9A-Z]{26}$/.test(paymentId) && /^[0-9a-f]{32}$/.test(ticket) ? { paymentId, ticket } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The hash of a ticket and the request that it is for. The hash does not cover the scheme of the URL, because a server behind a proxy
 * does not know the scheme.
 */
export async function hashOf({ method, url, body }: Visit, ticket: string): Promise<string> {
  const { host, pathname, search } = new URL(url);
  const bodyHash = await digestOf(body);
  return digestOf(new TextEncoder().encode([ticket, method, host, pathname + search, bodyHash].join('\n')));
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const { subtle } = await webCrypto();
  return hexOf(new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}

/**
 * Media types whose parsers put the whole body into the field `body`. The parsers of `multipart/form-data` put files into other
 * fields.
 */
const WHOLE_IN_BODY = /^application\/([\w.-]+\+)?json\b|^application\/x-www-form-urlencoded\b/i;

/**
 * The body of a Node request. Throws if no parser has read the body, because reading it here would take it from the handler. Throws
 * also if the parsed body may be incomplete, because one payment would then be good for several bodies.
 */
export function bodyOf(request: NodeRequest): Uint8Array {
  const { rawBody, body, headers, readableEnded } = request;
  const found = rawBody ?? body;
  if (found instanceof Uint8Array) return found;
  if (typeof found === 'string') return new TextEncoder().encode(found);
  const parsed = found === undefined || found === null ? undefined : JSON.stringify(found);
  if (hasBody(request)) {
    if (parsed === undefined)
      throw new Error('The paywall needs the body of the request: put a parser before it, such as express.json().');
    // Express 4 has an empty object in `body` if no parser takes the type of the request.
    const isPlaceholder = parsed === '{}' && readableEnded === false;
    if (isPlaceholder || !WHOLE_IN_BODY.test(String(headers['content-type'])))
      throw new Error(
        'The paywall needs the body of the request as bytes: parsers of other types than JSON and URL-encoded forms leave parts out. Set rawBody.',
      );
  }
  return new TextEncoder().encode(parsed);
}

/** True if the request may have a body. In HTTP/2 a body needs no header, so without one only GET and HEAD count as without a body. */
function hasBody({ method, headers }: NodeRequest): boolean {
  const length = headers['content-length'];
  if (headers['transfer-encoding'] !== undefined || Number(length ?? 0) > 0) return true;
  return headers[':method'] !== undefined && length === undefined && method !== 'GET' && method !== 'HEAD';
}
