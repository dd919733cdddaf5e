import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { PaymentRef } from './calls.ts';

/** Holds requests on payments over plain sockets, at the least cost, and records when each payment's change arrives. */
export interface HolderOrder {
  readonly port: number;
  readonly apiKey: string;
  readonly held: readonly PaymentRef[];
  /** The next payment of a connection after its payment has ended. */
  readonly spare: readonly PaymentRef[];
}
export type HolderMessage = HolderOrder | 'report';
export interface HolderReport {
  readonly wokenAtMs: readonly [paymentId: string, atMs: number][];
}

const HOLD_MS = 25_000;
/** Less than the server's backlog of connections. */
const CONNECT_AT_ONCE = 100;

const wokenAtMs: [paymentId: string, atMs: number][] = [];

process.on('disconnect', () => process.exit());
process.on('message', (message: HolderMessage) => {
  if (message === 'report') process.send?.({ wokenAtMs } satisfies HolderReport);
  else void open(message);
});

async function open(order: HolderOrder): Promise<void> {
  const spare = order.spare.values();
  for (let start = 0; start < order.held.length; start += CONNECT_AT_ONCE) {
    const sockets = order.held.slice(start, start + CONNECT_AT_ONCE).map(async (payment) => {
      const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      hold(socket, payment);
    });
    await Promise.all(sockets);
  }
  process.send?.({ wokenAtMs } satisfies HolderReport);

  function hold(socket: Socket, first: PaymentRef): void {
    let payment: PaymentRef | undefined = first;
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      const atMs = performance.timeOrigin + performance.now();
      received += piece;
      const body = bodyOf(received);
      if (body === undefined || payment === undefined) return;
      if (!received.startsWith('HTTP/1.1 200'))
        throw new Error(`A held request was answered: ${received.slice(0, 400)}`);
      received = '';
      if (body.includes('"isFinal":true')) {
        wokenAtMs.push([payment.id, atMs]);
        payment = spare.next().value;
      }
      if (payment !== undefined) socket.write(requestOf(payment));
    });
    socket.on('close', () => {
      throw new Error('The gateway closed a held connection.');
    });
    socket.write(requestOf(first));
  }

  function requestOf({ id, merchant }: PaymentRef): string {
    return `GET /v1/payments/${id}/status?maxPollMs=${HOLD_MS} HTTP/1.1\r\nHost: 127.0.0.1\r\nApi-Key: ${order.apiKey}\r\nMerchant-Id: ${merchant}\r\n\r\n`;
  }
}

/** The body, once it is complete. */
function bodyOf(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  const body = text.slice(end + 4);
  return body.length < length ? undefined : body;
}
