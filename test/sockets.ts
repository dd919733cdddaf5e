import assert from 'node:assert/strict';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestGateway } from './gateway.ts';

/** A raw HTTP answer. */
export interface WireAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Makes the gateway listen on a free port of this machine. */
export async function listen({ app }: TestGateway): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

/** Sends the bytes as they are and reads until the first whole answer, or until the server closes the connection. */
export async function exchange(
  port: number,
  bytes: string | Buffer,
  { withinMs = 20_000 } = {},
): Promise<WireAnswer | undefined> {
  const socket = await openSocket(port);
  socket.write(bytes);
  try {
    return await readAnswer(socket, { withinMs });
  } finally {
    socket.destroy();
  }
}

/** The first answer on the socket, or undefined when the server closes it without one. */
export async function readAnswer(socket: Socket, { withinMs = 20_000 } = {}): Promise<WireAnswer | undefined> {
  return (await readAnswers(socket, { count: 1, withinMs }))[0];
}

/** The given number of answers, or those received before the server closed the socket. */
export function readAnswers(socket: Socket, { count, withinMs = 20_000 }: { count: number; withinMs?: number }) {
  return new Promise<WireAnswer[]>((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const answers: WireAnswer[] = [];
    const timer = setTimeout(() => reject(new Error(`No answer within ${withinMs} ms.`)), withinMs);
    const settle = () => {
      for (let next = parseAnswer(received); next !== undefined; next = parseAnswer(received)) {
        answers.push(next.answer);
        received = next.rest;
      }
      if (answers.length < count && !socket.closed) return;
      clearTimeout(timer);
      resolve(answers);
    };
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      settle();
    });
    // A server that closes while we are still sending resets the connection: its earlier answer counts.
    socket.on('error', () => {});
    socket.on('close', settle);
  });
}

function parseAnswer(bytes: Buffer): { answer: WireAnswer; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = bytes.subarray(end + 4);
  // Node itself refuses a few requests, such as those without Host, with no more than a status.
  const isBare = headers['transfer-encoding'] === 'chunked' && body.indexOf(NO_CHUNKS) === 0;
  const length = isBare ? 0 : Number(headers['content-length']);
  assert.ok(Number.isInteger(length), `an answer without its length: ${statusLine}`);
  if (body.length < length) return undefined;
  const answer = { status: Number(statusLine.split(' ')[1]), headers, body: body.subarray(0, length).toString() };
  return { answer, rest: body.subarray(isBare ? NO_CHUNKS.length : length) };
}

const NO_CHUNKS = '0\r\n\r\n';
