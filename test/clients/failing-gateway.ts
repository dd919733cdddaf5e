import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign } from '../../sdk/src/webhooks.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
/** The first answers to a POST: reasons to send it again. */
const PASSING = [503, 429, 409];

/** The output of `failures.py` and `failures.php`. */
export const EXPECTED_OF_FAILURES = [
  ['created', 'pay_1'],
  ['unreadable_answer', 302, null],
  ['internal_error', 500, 'request-1'],
  ['no answer'],
  ['no answer'],
  ['refused'],
  ['refused'],
  ['refused'],
  ['refused', false],
  ['payment.succeeded'],
  ['payment.succeeded'],
  ['forged'],
  ['forged'],
];

/** A gateway that fails in every way that a client must bear. */
export async function startFailingGateway() {
  const posts: (string | undefined)[] = [];
  const keysSeenElsewhere: unknown[] = [];
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    const json = (status: number, body: object, more: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    if (url.startsWith('/elsewhere')) {
      keysSeenElsewhere.push(headers['api-key']);
      return json(200, {});
    }
    if (method === 'POST') {
      const status = PASSING[posts.length];
      posts.push(headers['idempotency-key'] as string | undefined);
      if (status === undefined) return json(201, { paymentId: 'pay_1' });
      return json(status, { code: 'internal_error', message: 'Not now.' }, { 'retry-after': '0' });
    }
    if (url.endsWith('pay_moved')) return response.writeHead(302, { location: '/elsewhere' }).end();
    if (url.endsWith('pay_broken')) {
      return json(500, { code: 'internal_error', message: 'It failed.' }, { 'request-id': 'request-1' });
    }
    if (url.endsWith('pay_page')) return response.end('<html>');
    // The connection is lost within the answer.
    response.writeHead(200, { 'content-length': '100' }).write('{"id":', () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const body = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { referenceId: 'Tee – 1' } });
  const headers = await sign({ id: 'evt_1', body, secret: SECRET });
  return {
    env: {
      STUB_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      WEBHOOK: JSON.stringify({ body, headers, secret: SECRET, other: OTHER }),
    },
    /** The keys of the attempts to create a payment. */
    posts,
    keysSeenElsewhere,
    stop: () => server.close().closeAllConnections(),
  };
}
