import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../errors.ts';

/** The headers that the gateway reads, besides those of HTTP itself. */
const OUR_HEADERS = [
  'api-key',
  'x-api-key',
  'app-id',
  'client-id',
  'merchant-id',
  'partner-id',
  'session-mode',
  'pay-version',
  'wcp-version',
  'idempotency-key',
  'sdk-name',
  'sdk-version',
  'sdk-platform',
  'payment-signature',
  'x-payment',
] as const;

export interface WithHeaders {
  readonly headers: IncomingHttpHeaders;
}

/**
 * The value of a header. An empty header counts as missing: some proxies send an empty header if the client sent none, or beside
 * the client's header.
 */
export function headerOf(request: WithHeaders, name: OurHeader): string | undefined {
  const value = request.headers[name];
  if (typeof value !== 'string' || value === '') return undefined;
  if (!value.includes(JOINT)) return value;
  const [only, ...others] = headersOf(request, name);
  return others.length === 0 ? only : value;
}

/** The values of a header that may have been sent repeatedly. */
export function headersOf(request: WithHeaders, name: OurHeader): string[] {
  const value = request.headers[name];
  if (typeof value !== 'string') return [];
  // Most headers are sent once, so they need no split.
  if (!value.includes(JOINT)) return value === '' ? [] : [value];
  return value.split(JOINT).filter((part) => part !== '');
}

type OurHeader = (typeof OUR_HEADERS)[number];

/** Node.js joins repeated headers with this separator. */
const JOINT = ', ';

export function checkHeaderBytes(request: WithHeaders): void {
  for (const name of OUR_HEADERS) {
    const value = request.headers[name];
    if (value !== undefined && !isAscii(String(value))) {
      throw new ApiError('header_not_ascii', `Header ${name} holds a character outside ASCII.`);
    }
  }
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII itself
  return /^[\x00-\x7f]*$/.test(text);
}
