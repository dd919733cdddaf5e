import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyHttpOptions, RawServerDefault } from 'fastify';
import { ApiError } from '../../errors.ts';
import { FORM_KEYWORD } from './forms.ts';
import { NAMES_KEYWORD, NO_NUL_KEYWORD } from './unknown-fields.ts';

const BODY_LIMIT_BYTES = 64 * 1024;

/** Limits for clients. Each prevents one way to starve other clients. */
export const SERVER_OPTIONS = {
  bodyLimit: BODY_LIMIT_BYTES,
  // Against slow senders: the headers within 15 s, the whole request within 30 s, checked every 5 s.
  requestTimeout: 30_000,
  http: {
    headersTimeout: 15_000,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: 16 * 1024,
    // Node.js would refuse a request without `Host` with an empty body. `refuseWithoutHost` refuses it with an error of the
    // catalogue.
    requireHostHeader: false,
    // Most requests have no body, so they need no stream to wait for.
    optimizeEmptyRequests: true,
  },
  // Longer than the usual 60 s of load balancers, so that they close idle connections before we do.
  keepAliveTimeout: 65_000,
  // Long enough for a gateway URL, encoded twice, in place of a payment id.
  routerOptions: { maxParamLength: 8_192 },
  ajv: {
    customOptions: {
      // Every invalid field is reported. The body limit bounds the work.
      allErrors: true,
      verbose: true,
      coerceTypes: false,
      removeAdditional: false,
      keywords: ['x-rule', FORM_KEYWORD, NAMES_KEYWORD, NO_NUL_KEYWORD],
    },
  },
  // The framework's own refusal is not in the error catalogue. The `onRequest` hook of `app.ts` refuses instead.
  return503OnClosing: false,
  forceCloseConnections: 'idle',
} as const satisfies FastifyHttpOptions<RawServerDefault>;

/** Answers a request that is not valid HTTP with an error of the catalogue, and closes the connection. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [status, message] = BROKEN[error.code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP.'];
  const body = JSON.stringify({ code: 'invalid_params', message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Refuses a request without the header `Host`, which HTTP/1.1 requires. */
export function refuseWithoutHost({ httpVersion, headers }: IncomingMessage): ApiError | undefined {
  if (headers.host !== undefined || httpVersion === '1.0') return undefined;
  return new ApiError('invalid_params', 'Header Host is missing.');
}

/** Answers a request whose header `Expect` is not `100-continue`. Without this listener, Node.js would answer with an empty body. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, body } = new ApiError('invalid_params', 'Header Expect may only be 100-continue.', { status: 417 });
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.end(text);
}

const BROKEN: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};
