import { CHECKOUT_APPS } from '../src/actions/parties/open-checkout.ts';
import { SANDBOX_TOKENS } from '../src/sandbox/genesis.ts';
import { call } from './calls.ts';
import { describeOthers } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import { type Figure, type Measurement, round } from './figures.ts';
import { startPayingChain } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers } from './paying-payers.ts';
import { confirm, signPayment, statusOf } from './paying-wallet.ts';
import { shareDuring } from './quiet.ts';

const NETWORK = 'eip155:31337';
const USDC = SANDBOX_TOKENS.USDC;
const ASSET = `${NETWORK}/erc20:${USDC}`;
const ACCOUNTS = 100;
const WARM_UPS = 30;
const REQUESTS = 200;
const HOLD_MS = 20_000;
const BODY_BYTES = 64 * 1024;

interface PublicRequest {
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** Runs in a thread of its own and is limited by address: payments do not wait for it. */
  readonly isAside?: true;
}

/** Processor time of one request that anybody may send, of the kinds that cost most. */
export const publicRequestsMeasurement: Measurement = {
  names: ['public_requests'],
  measure: async () => [await measurePublicRequests()],
};

async function measurePublicRequests(): Promise<Figure> {
  const chain = await startPayingChain({ blockMs: 1_000 });
  const [payer, shop] = await createPayers('public requests', 2);
  if (payer === undefined || shop === undefined) throw new Error('There are no accounts.');
  await chain.fund(USDC, [payer.address], 1_000_000_000n);
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: [chain.rpcUrl] },
    destinations: [{ asset: ASSET, destination: `${NETWORK}:${shop.address}` }],
    settings: { TRUST_PROXY: '127.0.0.1' },
  });
  try {
    const merchant = gateway.merchants[0] ?? '';
    const signed = await signPayment(gateway, { payer, merchant, asset: ASSET, price: '100' });
    let { isFinal } = await confirm(gateway, signed, HOLD_MS);
    while (!isFinal) ({ isFinal } = await statusOf(gateway, signed, HOLD_MS));
    const open = await signPayment(gateway, { payer, merchant, asset: ASSET, price: '100' });
    const requests = await requestsOf(gateway, { paid: signed.id, open: open.id });
    const { result, others } = await shareDuring(async () => {
      const costs: { readonly name: string; readonly ms: number; readonly isAside: boolean }[] = [];
      for (const request of requests) costs.push(await costOf(gateway, request));
      return costs.toSorted((one, other) => other.ms - one.ms);
    });
    const [dearest] = result.filter(({ isAside }) => !isAside);
    return {
      name: 'public_requests',
      value: dearest?.ms ?? Number.NaN,
      target: { atMost: 4 },
      unit: 'ms',
      detail: {
        ...Object.fromEntries(result.map(({ name, ms, isAside }) => [isAside ? `${name} (aside)` : name, ms])),
        ...describeOthers([others]),
      },
    };
  } finally {
    await gateway.stop();
    await chain.stop();
  }
}

async function requestsOf(
  gateway: PayingGateway,
  { paid, open }: { readonly paid: string; readonly open: string },
): Promise<PublicRequest[]> {
  const strangers = await createPayers('strangers', ACCOUNTS);
  const accounts = strangers.map(({ address }) => `${NETWORK}:${address}`);
  const headers = { 'Api-Key': gateway.apiKey, 'Merchant-Id': gateway.merchants[0] ?? '' };
  const { text } = await call({ port: gateway.port, path: `/v1/payments/${paid}/receipt`, headers });
  const receipt = new URL((JSON.parse(text) as { pageUrl: string }).pageUrl).pathname;
  const of = `/v1/gateway/payment/${open}`;
  const lists = '['.repeat(BODY_BYTES / 2 - 20) + ']'.repeat(BODY_BYTES / 2 - 20);
  const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1])));
  const options = `${of}/options`;
  return [
    { name: 'options, 100 accounts', method: 'POST', path: options, body: JSON.stringify({ accounts }) },
    {
      name: 'options, 100 wrong accounts',
      method: 'POST',
      path: options,
      body: JSON.stringify({ accounts: accounts.map((account) => account.replace('0x', '0X')) }),
    },
    { name: 'options, nested lists', method: 'POST', path: options, body: `{"accounts":${lists}}` },
    { name: 'options, nested objects', method: 'POST', path: options, body: objects },
    { name: 'options, 5000 fields', method: 'POST', path: options, body: wide },
    {
      name: 'options, 64 KB of broken JSON',
      method: 'POST',
      path: options,
      body: `{"accounts":"${'x'.repeat(BODY_BYTES - 50)}`,
    },
    {
      name: 'confirm, nested lists',
      method: 'POST',
      path: `${of}/confirm`,
      body: `{"optionId":"x","results":${lists}}`,
    },
    {
      name: 'confirm, a made-up option',
      method: 'POST',
      path: `${of}/confirm`,
      body: JSON.stringify({ optionId: 'x'.repeat(1_000), results: [] }),
    },
    {
      name: 'fetch, a made-up option',
      method: 'POST',
      path: `${of}/fetch`,
      body: JSON.stringify({ optionId: 'x'.repeat(1_000) }),
    },
    { name: 'a deposit address', method: 'POST', path: `${of}/address`, body: JSON.stringify({ asset: ASSET }) },
    { name: 'challenge of a sign-in', method: 'POST', path: '/v1/sessions/challenge', body: '{}' },
    { name: 'sign-in, nested lists', method: 'POST', path: '/v1/sessions', body: `{"link":${lists}}` },
    { name: 'the payment', path: of },
    { name: 'its status', path: `${of}/status` },
    { name: 'x402', path: `/x402/${open}` },
    { name: 'checkout page', path: `/${open}` },
    { name: 'checkout page, paid', path: `/${paid}` },
    { name: 'receipt page', path: receipt },
    { name: 'receipt, signed', path: `${receipt}.json` },
    { name: 'receipt as PDF', path: `${receipt}.pdf`, isAside: true },
    { name: 'dashboard page', path: '/dashboard' },
    { name: 'start page', path: '/' },
    { name: 'API reference', path: '/docs' },
    { name: 'OpenAPI', path: '/openapi.json' },
    { name: 'verify-receipt.mjs', path: '/verify-receipt.mjs' },
    { name: 'keys of receipts', path: '/.well-known/till-receipts.json' },
    { name: 'ready', path: '/ready' },
    { name: 'health', path: '/health' },
    { name: 'unknown route', path: '/v1/no-such-route' },
  ];
}

let sent = 0;

/** Every request comes from another address, so that no limit of addresses answers in its place. */
async function send({ port }: PayingGateway, { method = 'GET', path, body }: PublicRequest): Promise<number> {
  sent += 1;
  const headers = {
    'App-Id': CHECKOUT_APPS.test,
    'Client-Id': 'bench',
    'X-Forwarded-For': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** The work that the node does anyway is in it, so it is an upper bound. A busy machine makes it larger. */
async function costOf(gateway: PayingGateway, request: PublicRequest) {
  const used = async () => (await readCpuUse(gateway.pid)).ownMs;
  const count = request.isAside ? REQUESTS / 4 : REQUESTS;
  let status = 0;
  for (let done = 0; done < WARM_UPS; done += 1) status = await send(gateway, request);
  const before = await used();
  for (let done = 0; done < count; done += 1) status = await send(gateway, request);
  const ms = round(((await used()) - before) / count, 2);
  return { name: `${request.name} (${status})`, ms, isAside: request.isAside === true };
}
