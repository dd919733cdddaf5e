import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that gets webhooks, and answers 200 until it is told otherwise. */
export async function startReceiver() {
  const received: ReceivedRequest[] = [];
  let answer: (request: ReceivedRequest, response: ServerResponse) => void = ok;
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const whole = { path, headers, body: Buffer.concat(parts).toString() };
      received.push(whole);
      answer(whole, response);
    });
  };
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    /** The requests to a path. */
    at: (path: string) => received.filter((request) => request.path === path),
    answerWith(next: typeof answer = ok) {
      answer = next;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function ok(_request: ReceivedRequest, response: ServerResponse): void {
  response.end('ok');
}
