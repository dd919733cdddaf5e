import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

/** Sends a JSON-RPC text to an endpoint and returns the raw answer. */
export interface Transport {
  post(body: string, signal: AbortSignal): Promise<TransportAnswer>;
  close(): void;
}

export interface TransportAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterS?: number;
}

/**
 * The maximum length of an answer in bytes. It is far more than a full batch of large calls needs. A longer body is no answer to
 * our request.
 */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_SOCKETS = 32;

/** A transport over HTTP. It keeps connections open, because a new connection costs up to three more round trips. */
export function httpTransport(url: string): Transport {
  const target = new URL(url);
  const isSecure = target.protocol === 'https:';
  const request = isSecure ? requestHttps : requestHttp;
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, scheduling: 'lifo' } as const;
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);

  function send(body: Buffer, signal: AbortSignal, mayRetry: boolean): Promise<TransportAnswer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.byteLength };
      const outgoing = request(target, { method: 'POST', agent, headers, signal }, (incoming) => {
        collect(incoming).then(resolve, reject);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        // The server may close a kept connection at the moment we reuse it. It has then not read the request, so a retry is safe.
        if (mayRetry && outgoing.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) {
          resolve(send(body, signal, false));
        } else reject(error);
      });
      outgoing.end(body);
    });
  }

  return {
    post: (body, signal) => send(Buffer.from(body), signal, true),
    close: () => agent.destroy(),
  };
}

async function collect(incoming: IncomingMessage): Promise<TransportAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new RangeError('the answer is too long');
    chunks.push(chunk);
  }
  const retryAfterS = Number(incoming.headers['retry-after']);
  return {
    status: incoming.statusCode ?? 0,
    text: Buffer.concat(chunks).toString('utf8'),
    ...(Number.isInteger(retryAfterS) && retryAfterS > 0 ? { retryAfterS } : {}),
  };
}
