import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The behaviour of the server for the next requests. */
export type Lie =
  | 'honest'
  | 'html'
  | 'bad_gateway'
  | 'too_many_requests'
  | 'throttled_answers'
  | 'half_a_body'
  | 'silence'
  | 'wrong_ids'
  | 'wrong_values'
  | 'no_batches'
  | 'small_batches';

/** A small Ethereum node over HTTP with scripted answers. */
export interface LyingServer {
  readonly url: string;
  lie: Lie;
  chainId: number;
  head: number;
  /** The answers to methods other than the three built-in ones: a result or an error. */
  answers: Record<string, { result: unknown } | { error: { code: number; message: string; data?: unknown } }>;
  /** The methods of every request received, in order. */
  readonly requests: string[][];
  close(): Promise<void>;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export async function startLyingServer(): Promise<LyingServer> {
  const server = createServer((request, response) => {
    void readBody(request).then((body) => answer(JSON.parse(body), response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const state: LyingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-key`,
    lie: 'honest',
    chainId: 31337,
    head: 100,
    answers: {},
    requests: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  function one({ id, method }: Call): unknown {
    const known: Record<string, unknown> = {
      eth_chainId: `0x${state.chainId.toString(16)}`,
      eth_blockNumber: `0x${state.head.toString(16)}`,
      eth_getBalance: '0x5',
    };
    const answered = state.answers[method] ?? { result: known[method] };
    if (state.lie === 'throttled_answers' && method === 'eth_getBalance') {
      return { jsonrpc: '2.0', id, error: { code: -32005, message: 'Too Many Requests, see secret.example' } };
    }
    if (state.lie === 'wrong_values' && method === 'eth_getBalance') return { jsonrpc: '2.0', id, result: '<html>' };
    return { jsonrpc: '2.0', id: state.lie === 'wrong_ids' ? id + 1_000_000 : id, ...answered };
  }

  function answer(body: Call | Call[], response: ServerResponse): void {
    const calls = Array.isArray(body) ? body : [body];
    state.requests.push(calls.map(({ method }) => method));
    const send = (status: number, text: string, headers = {}) => response.writeHead(status, headers).end(text);
    const isTooMuch = calls.length > (state.lie === 'no_batches' ? 1 : state.lie === 'small_batches' ? 4 : 1_000);
    if (isTooMuch) return void send(400, '{"error":{"code":-32600,"message":"batch too large"}}');
    const honest = JSON.stringify(Array.isArray(body) ? calls.map(one) : one(body as Call));
    switch (state.lie) {
      case 'html':
        return void send(200, '<html>secret.example is down</html>');
      case 'bad_gateway':
        return void send(502, '<html>secret.example</html>');
      case 'too_many_requests':
        return void send(429, 'slow down', { 'retry-after': '1' });
      case 'half_a_body':
        response.writeHead(200, { 'content-length': honest.length });
        response.write(honest.slice(0, honest.length / 2));
        return void setImmediate(() => response.destroy());
      case 'silence':
        return;
      default:
        return void send(200, honest);
    }
  }

  return state;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
