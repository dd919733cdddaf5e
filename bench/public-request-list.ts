import { OPEN_ROUTES } from '../scripts/security-tables.ts';
import { call } from './calls.ts';
import type { PayingGateway } from './paying-gateway.ts';
import { createPayers } from './paying-payers.ts';
import type { SignedPayment } from './paying-wallet.ts';

const ACCOUNTS = 100;
const BODY_BYTES = 64 * 1024;
/** Node.js reads headers of 16 KB in all, and base64 takes a third more. */
const HEADER_BYTES = 9 * 1024;

/** A request that anybody may send. */
export interface PublicRequest {
  readonly name: string;
  /** The route of the API, as the table of what anybody may do names it. */
  readonly route?: keyof typeof OPEN_ROUTES;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly accept?: string;
  /** How rarely one address may cause it, in words. The bound is about all other requests. */
  readonly rarely?: string;
  /** Paths that are asked for once each, after `path`: a file is made once. */
  readonly further?: readonly string[];
}

interface Scene {
  readonly paid: SignedPayment;
  readonly open: SignedPayment;
  /** CAIP-19. */
  readonly asset: string;
}

/** Requests to every route that takes callers without a key, and to every kind of page. */
export async function publicRequestsOf(gateway: PayingGateway, scene: Scene): Promise<PublicRequest[]> {
  const requests = [
    ...(await payerRequests(scene)),
    ...(await x402Requests(gateway, scene)),
    ...otherRoutes(scene),
    ...(await pages(gateway, scene)),
  ];
  const named = new Set(requests.map(({ route }) => route));
  const missing = (Object.keys(OPEN_ROUTES) as (keyof typeof OPEN_ROUTES)[]).filter((route) => !named.has(route));
  if (missing.length > 0) throw new Error(`No request measures ${missing.join(', ')}.`);
  return requests;
}

/** The routes of wallets and the checkout, with bodies that are as dear as their limits allow. */
async function payerRequests({ open, asset }: Scene): Promise<PublicRequest[]> {
  const [network = ''] = asset.split('/');
  const strangers = await createPayers('strangers', ACCOUNTS);
  const accounts = strangers.map(({ address }) => `${network}:${address}`);
  const of = `/v1/gateway/payment/${open.id}`;
  const lists = '['.repeat(BODY_BYTES / 2 - 20) + ']'.repeat(BODY_BYTES / 2 - 20);
  const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1])));
  const post = (action: string, name: string, body: object | string): PublicRequest => ({
    name: `${action}, ${name}`,
    route: `POST /v1/gateway/payment/{id}/${action}` as keyof typeof OPEN_ROUTES,
    method: 'POST',
    path: `${of}/${action}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const signed = JSON.parse(open.confirmation) as { optionId: string };
  const forged = [{ type: 'walletRpc', data: [`0x${'ab'.repeat(64)}1b`] }];
  return [
    { ...post('options', '100 accounts', { accounts }), rarely: 'once in 4 s of an address' },
    post('options', '1 account', { accounts: accounts.slice(0, 1) }),
    post('options', '100 wrong accounts', { accounts: accounts.map((account) => account.replace('0x', '0X')) }),
    post('options', 'nested lists', `{"accounts":${lists}}`),
    post('options', 'nested objects', objects),
    post('options', '5000 fields', wide),
    post('options', '64 KB of broken JSON', `{"accounts":"${'x'.repeat(BODY_BYTES - 50)}`),
    post('confirm', 'nested lists', `{"optionId":"x","results":${lists}}`),
    post('confirm', 'a made-up option', { optionId: 'x'.repeat(1_000), results: [] }),
    post('confirm', 'a made-up signature', { optionId: signed.optionId, results: forged }),
    post('fetch', 'a made-up option', { optionId: 'x'.repeat(1_000) }),
    post('address', 'a token', { asset }),
    post('receipt-email', 'of an open payment', { email: 'payer@example.com' }),
    { name: 'the payment', route: 'GET /v1/gateway/payment/{id}', path: of },
    { name: 'its status', route: 'GET /v1/gateway/payment/{id}/status', path: `${of}/status` },
  ];
}

/** A request without an authorization, and forged authorizations, which are as dear as the limit of headers allows. */
async function x402Requests({ port }: PayingGateway, { open, asset }: Scene): Promise<PublicRequest[]> {
  const path = `/x402/${open.id}`;
  // The answer is 402, with the ways to pay.
  const text = await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const { accepts } = JSON.parse(text) as {
    accepts: { asset: string; network: string; payTo: string; amount: string }[];
  };
  const accepted = accepts.find((each) => asset.toLowerCase() === `${each.network}/erc20:${each.asset}`.toLowerCase());
  if (accepted === undefined) throw new Error(`x402 does not offer ${asset}: ${text}`);
  const { payTo: to, amount: value } = accepted;
  const validBefore = String(Math.floor(Date.now() / 1000) + 300);
  const from = `0x${'a1'.repeat(20)}`;
  const authorization = { from, to, value, validAfter: '0', validBefore, nonce: `0x${'b2'.repeat(32)}` };
  const paying = (signature: string, extensions: object = {}) => {
    const payment = { x402Version: 2, accepted, payload: { authorization, signature }, extensions };
    return Buffer.from(JSON.stringify(payment)).toString('base64');
  };
  const of = (name: string, header?: string): PublicRequest => ({
    name: header === undefined ? 'x402' : `x402, ${name}`,
    route: 'GET /x402/{id}',
    path,
    ...(header !== undefined && { headers: { 'PAYMENT-SIGNATURE': header } }),
  });
  const nested = '['.repeat(HEADER_BYTES / 2) + ']'.repeat(HEADER_BYTES / 2);
  return [
    of('without an authorization'),
    of('a made-up authorization', paying(`0x${'ab'.repeat(64)}1b`)),
    of('a made-up authorization of a contract', paying(`0x${'ab'.repeat(HEADER_BYTES / 3)}`)),
    of('nested header', Buffer.from(nested).toString('base64')),
  ];
}

function otherRoutes({ paid }: Scene): PublicRequest[] {
  const lists = '['.repeat(BODY_BYTES / 2 - 20) + ']'.repeat(BODY_BYTES / 2 - 20);
  const get = (route: keyof typeof OPEN_ROUTES & `GET /${string}`): PublicRequest => ({
    name: route.slice(4),
    route,
    path: route.slice(4).replace('{id}', 'made-up'),
  });
  const post = (route: keyof typeof OPEN_ROUTES & `POST /${string}`, name: string, body: string): PublicRequest => ({
    name,
    route,
    method: 'POST',
    path: route.slice(5).replace('{id}', 'made-up'),
    body,
  });
  return [
    get('GET /health'),
    get('GET /ready'),
    get('GET /versions'),
    get('GET /.well-known/till-receipts.json'),
    get('GET /v1/gateway/refund/{id}'),
    post('POST /v1/gateway/refund/{id}/actions', 'actions of a made-up refund', '{"account":"x"}'),
    post('POST /v1/gateway/refund/{id}/confirm', 'confirm of a made-up refund', '{}'),
    post('POST /v1/sessions/challenge', 'challenge of a sign-in', '{}'),
    post('POST /v1/sessions', 'sign-in, nested lists', `{"link":${lists}}`),
    {
      name: 'cancel of a paid payment',
      route: 'POST /v1/gateway/payment/{id}/cancel',
      method: 'POST',
      path: `/v1/gateway/payment/${paid.id}/cancel`,
      body: '{}',
    },
    { name: 'unknown route', path: '/v1/no-such-route' },
  ];
}

/** Pages and files, which `openapi.json` does not describe. */
async function pages(gateway: PayingGateway, { paid, open }: Scene): Promise<PublicRequest[]> {
  const headers = { 'Api-Key': gateway.apiKey, 'Merchant-Id': gateway.merchants[0] ?? '' };
  const { port } = gateway;
  const { text } = await call({ port, path: `/v1/payments/${paid.id}/receipt`, headers });
  const receipt = new URL((JSON.parse(text) as { pageUrl: string }).pageUrl).pathname;
  const made = await call({
    port,
    method: 'POST',
    path: '/v1/payment-links',
    headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': 'public-requests' },
    body: JSON.stringify({ description: 'Flat white', amount: { unit: 'iso4217/USD', value: '400' } }),
  });
  const link = new URL((JSON.parse(made.text) as { paymentLink: { url: string } }).paymentLink.url).pathname;
  const page = (name: string, path: string): PublicRequest => ({ name, path, accept: 'text/html' });
  return [
    page('checkout page', `/${open.id}`),
    page('checkout page, paid', `/${paid.id}`),
    page('checkout page, unknown payment', `/pay_${'0'.repeat(26)}`),
    page('receipt page', receipt),
    { name: 'receipt, signed', path: `${receipt}.json` },
    { name: 'receipt as PDF, again', path: `${receipt}.pdf` },
    {
      name: 'receipt as PDF, printed in a thread of its own',
      path: `${receipt}.pdf?size=roll&lang=en`,
      further: ['a4', 'letter', 'roll'].flatMap((size) =>
        ['de', 'es', 'fr', 'pt'].map((lang) => `${receipt}.pdf?size=${size}&lang=${lang}`),
      ),
      rarely: '60 in ten minutes of an address',
    },
    page('payment link', link),
    {
      name: 'order at a payment link',
      method: 'POST',
      path: link,
      body: '',
      type: 'application/x-www-form-urlencoded',
      rarely: '30 in ten minutes of an address',
    },
    page('point of sale', '/pos'),
    page('dashboard page', '/dashboard'),
    page('start page', '/'),
    page('page that is not there', '/no-such-page'),
    page('API reference', '/docs'),
    { name: 'OpenAPI', path: '/openapi.json' },
    { name: 'verify-receipt.mjs', path: '/verify-receipt.mjs' },
    { name: 'icon', path: '/icons/token/USDC.svg' },
    { name: 'stylesheet of an accent', path: '/brand/336699.css' },
  ];
}
