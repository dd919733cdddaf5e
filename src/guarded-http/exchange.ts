import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isPublicAddress } from '../domain/public-address.ts';
import type { Timers } from '../runtime/world.ts';
import { createGuardedLookup, ForbiddenAddressError, type IsAllowed, refuseForbiddenHost } from './guarded-lookup.ts';

/** A request to a URL from an untrusted source. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body, up to `maxBytes`. */
  readonly bytes: Buffer;
  /** False if only a part of the body was read: it exceeded a limit of size or time, or the connection broke. */
  readonly isWhole: boolean;
}

/** A request got no answer. The message gives the reason, and never contains text from the server. */
export class ExchangeError extends Error {
  /** True if a retry may succeed. */
  readonly isPassing: boolean;
  constructor(reason: string, { isPassing }: { readonly isPassing: boolean }) {
    super(reason);
    this.name = 'ExchangeError';
    this.isPassing = isPassing;
  }
}

/** Sends a request and reads the answer. Redirects are not followed: they would let the server choose the next URL. */
export type Exchange = (request: OutgoingRequest) => Promise<Answer>;

export interface ExchangeDeps {
  readonly timers: Timers;
  /** Returns true for an address to which a connection may be made. By default, these are all public addresses. */
  readonly isAllowed?: IsAllowed | undefined;
  /** Certificate authorities that replace those of Node.js. */
  readonly ca?: string | undefined;
}

export interface ExchangeLimits {
  /** The bound for the whole exchange: DNS look-up, connection, request and answer. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** The number of idle connections that are kept for each host. None by default. */
  readonly keptConnections?: number;
}

/**
 * How long an idle connection is kept. Shorter than the keep-alive timeout of most servers, so that the server rarely closes a
 * connection while we use it again.
 */
const IDLE_MS = 4_000;

/**
 * Creates an `Exchange`. An address is checked when a connection is made. A kept connection stays with its address, so reuse needs
 * no new check.
 */
export function createExchange(deps: ExchangeDeps, limits: ExchangeLimits): Exchange {
  const { timers, isAllowed = isPublicAddress, ca } = deps;
  const { timeoutMs, maxBytes, keptConnections = 0 } = limits;
  const lookup = createGuardedLookup(isAllowed);
  const agents = keptConnections === 0 ? undefined : keepingAgents(keptConnections);

  return (request) =>
    new Promise((resolve, reject) => {
      const target = URL.parse(request.url);
      if (target === null) return reject(new ExchangeError('its URL is not valid', { isPassing: false }));
      const isSecure = target.protocol === 'https:';
      let answered: { response: IncomingMessage; parts: Buffer[] } | undefined;
      let isOver = false;
      let cancelSending = () => {};

      const end = (run: () => void) => {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        run();
      };
      const finish = (isWhole: boolean) => {
        if (answered === undefined) return;
        const { response, parts } = answered;
        const { statusCode: status = 0, headers } = response;
        end(() => resolve({ status, headers, bytes: Buffer.concat(parts).subarray(0, maxBytes), isWhole }));
        // Closes the connection after a partial body. Node.js would otherwise read the rest in order to reuse the connection.
        if (!isWhole) response.destroy();
      };
      const fail = (error: Error) => {
        // If the status has arrived, the request has an answer, even if the rest of the body is missing.
        if (answered !== undefined) finish(false);
        else end(() => reject(failureOf(error)));
      };
      const cancelTimer = timers.after(timeoutMs, () => {
        fail(new ExchangeError(`it took longer than ${timeoutMs / 1000} s`, { isPassing: true }));
        cancelSending();
      });

      const send = (canReuse: boolean) => {
        const agent = canReuse && agents !== undefined ? (isSecure ? agents.https : agents.http) : false;
        const { method, headers, body } = request;
        const options = { method, lookup, ca, headers: { ...headers, ...lengthOf(body) }, agent };
        const outgoing = isSecure ? httpsRequest(target, options) : httpRequest(target, options);
        cancelSending = () => outgoing.destroy();
        outgoing.on('response', (response) => {
          const parts: Buffer[] = [];
          answered = { response, parts };
          let length = 0;
          response.on('data', (part: Buffer) => {
            parts.push(part);
            length += part.length;
            if (length > maxBytes) finish(false);
          });
          response.on('error', fail);
          response.on('end', () => finish(response.complete));
        });
        outgoing.on('error', (error: NodeJS.ErrnoException) => {
          // The server closed the kept connection while we were sending. It has not received the whole request, so the request may
          // be sent again.
          const isStale = outgoing.reusedSocket && answered === undefined && !isOver && error.code === 'ECONNRESET';
          if (isStale) send(false);
          else fail(error);
        });
        outgoing.end(body);
      };

      try {
        refuseForbiddenHost(target, isAllowed);
        send(true);
      } catch (error) {
        fail(error as Error);
      }
    });
}

function keepingAgents(keptConnections: number) {
  const options = { keepAlive: true, maxFreeSockets: keptConnections, timeout: IDLE_MS, scheduling: 'lifo' } as const;
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

function lengthOf(body: Uint8Array | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(body.length) };
}

function failureOf(error: Error): ExchangeError {
  if (error instanceof ExchangeError) return error;
  const isForbidden = error instanceof ForbiddenAddressError;
  return isForbidden
    ? new ExchangeError(error.message, { isPassing: false })
    : new ExchangeError(reasonOf(error as NodeJS.ErrnoException), { isPassing: true });
}

/** The reason of a failure in our own words, by the error code of Node.js. Messages of Node.js may contain text from the server. */
function reasonOf({ code = '' }: NodeJS.ErrnoException): string {
  if (['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT', 'ECANCELLED', 'EREFUSED'].includes(code)) {
    return 'its name could not be resolved';
  }
  if (code === 'ECONNREFUSED') return 'its server refused the connection';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'its server closed the connection without an answer';
  if (code.startsWith('HPE_')) return 'its server did not answer in HTTP';
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/.test(code)) return 'its certificate or TLS is not valid';
  return 'its server could not be reached';
}
