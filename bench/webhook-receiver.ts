import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Asks for the port, chooses the answer of a path, or asks for the arrivals since the last report. */
export type ReceiverOrder =
  | { readonly ask: 'port' }
  | { readonly ask: 'arrivals' }
  | { readonly ask: 'answer'; readonly path: string; readonly status: number };

/** Requests to a path: ids of their events, milliseconds since the events, and times of arrival. */
export interface Arrivals {
  readonly ids: readonly string[];
  readonly sinceEventMs: readonly number[];
  readonly atMs: readonly number[];
}
export type ReceiverReport = number | Readonly<Record<string, Arrivals>>;

const CREATED_AT = /"createdAt":"([^"]+)"/;

if (process.send !== undefined) {
  const statuses = new Map<string, number>();
  let arrivals: Record<string, { ids: string[]; sinceEventMs: number[]; atMs: number[] }> = {};
  const server = createServer((request, response) => {
    const atMs = Date.now();
    const { url: path = '' } = request;
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const status = statuses.get(path) ?? 200;
      if (status === 200) {
        arrivals[path] ??= { ids: [], sinceEventMs: [], atMs: [] };
        arrivals[path].ids.push(String(request.headers['webhook-id']));
        // The first `createdAt` of the body is that of the event.
        arrivals[path].sinceEventMs.push(atMs - Date.parse(CREATED_AT.exec(body)?.[1] ?? ''));
        arrivals[path].atMs.push(atMs);
      }
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  server.keepAliveTimeout = 60_000;
  process.on('message', (order: ReceiverOrder) => {
    if (order.ask === 'port') process.send?.((server.address() as AddressInfo).port satisfies ReceiverReport);
    else if (order.ask === 'answer') {
      statuses.set(order.path, order.status);
      process.send?.(order.status satisfies ReceiverReport);
    } else {
      process.send?.(arrivals satisfies ReceiverReport);
      arrivals = {};
    }
  });
  process.on('disconnect', () => process.exit());
}
