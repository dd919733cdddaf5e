import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CHECKOUT_APPS } from '../src/actions/parties/open-checkout.ts';
import { SANDBOX_TOKENS } from '../src/sandbox/genesis.ts';
import { call } from './calls.ts';
import { describeOthers } from './contest.ts';
import { compare, type Figure, type Measurement, round } from './figures.ts';
import type { NoiseOrder, NoiseReport } from './noise-client.ts';
import { startPayingChain } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers, type Payer } from './paying-payers.ts';
import { confirm, signPayment, statusOf } from './paying-wallet.ts';
import { freePort, messageOf, startClient, startProcess, stopProcess, until } from './processes.ts';
import { shareDuring } from './quiet.ts';

const NETWORK = 'eip155:31337';
const USDC = SANDBOX_TOKENS.USDC;
const ASSET = `${NETWORK}/erc20:${USDC}`;
const BLOCK_MS = 1_000;
const ENDPOINTS = 2;
const UNITS_PER_S = 660;
const ROUNDS = 3;
const PAYERS = 6;
const PAYMENTS_EACH = 6;
const FLOOD_PER_S = 10;
const FLOOD_ACCOUNTS = 100;
/** The flood has used up its first allowance by then. */
const FLOOD_WARM_UP_MS = 3_000;
const HOLD_MS = 20_000;
const RETRY_MS = 1_000;
const MAX_TRIES = 60;
const PROXY = fileURLToPath(new URL('./metered-proxy-server.ts', import.meta.url));

/** Payments of honest payers while a stranger floods the endpoints with questions for options, and without it. */
export const optionsFloodMeasurement: Measurement = {
  names: ['options_flood'],
  measure: async () => [await measureFlood()],
};

async function measureFlood(): Promise<Figure> {
  const chain = await startPayingChain({ blockMs: BLOCK_MS });
  const payers = await createPayers('beside a flood', PAYERS);
  await chain.fund(
    USDC,
    payers.map(({ address }) => address),
    1_000_000_000_000n,
  );
  const provider = await startProvider(chain.rpcUrl);
  const [shop] = await createPayers('shop beside a flood', 1);
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: provider.urls },
    destinations: [{ asset: ASSET, destination: `${NETWORK}:${shop?.address}` }],
    // The limits of a gateway that nobody has tuned. Behind a proxy, so that the flood has an address of its own.
    settings: {
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMIT_KEY_PER_SECOND: '500',
      RATE_LIMIT_ADDRESS_PER_SECOND: '100',
      SURVEY_ACCOUNTS_PER_KEY: '250',
      SURVEY_ACCOUNTS_PER_ADDRESS: '25',
    },
  });
  try {
    const flood = await floodOf(gateway);
    await paymentsPerS(gateway, payers);
    const alone: number[] = [];
    const beside: number[] = [];
    const answers: string[] = [];
    const { others } = await shareDuring(async () => {
      for (let done = 0; done < ROUNDS; done += 1) {
        alone.push(await paymentsPerS(gateway, payers));
        const client = startClient(new URL('./noise-client.ts', import.meta.url));
        client.send(flood);
        await sleep(FLOOD_WARM_UP_MS);
        beside.push(await paymentsPerS(gateway, payers));
        client.send('report');
        answers.push(JSON.stringify(await messageOf<NoiseReport>(client, { withinMs: 10_000 })));
        await stopProcess(client);
      }
    });
    const { ratio, byRound } = compare(beside, alone);
    return {
      name: 'options_flood',
      value: ratio,
      target: { atLeast: 0.95 },
      unit: 'x',
      detail: {
        'payments a second, alone': alone.map((value) => round(value, 3)),
        'payments a second, beside the flood': beside.map((value) => round(value, 3)),
        'ratio by round': byRound,
        'answers to the flood by status': answers.join('; '),
        'units a second of each endpoint, endpoints': [UNITS_PER_S, ENDPOINTS],
        ...describeOthers([others]),
      },
    };
  } finally {
    await gateway.stop();
    await provider.stop();
    await chain.stop();
  }
}

/** Each payer makes one payment after another. A refused step is tried again, as a person would. */
async function paymentsPerS(gateway: PayingGateway, payers: readonly Payer[]): Promise<number> {
  const begun = performance.now();
  await Promise.all(
    payers.map(async (payer) => {
      for (let paid = 0; paid < PAYMENTS_EACH; paid += 1) await pay(gateway, payer);
    }),
  );
  return (payers.length * PAYMENTS_EACH * 1000) / (performance.now() - begun);
}

async function pay(gateway: PayingGateway, payer: Payer): Promise<void> {
  const merchant = gateway.merchants[0] ?? '';
  const payment = await patiently(() => signPayment(gateway, { payer, merchant, asset: ASSET, price: '100' }));
  let { status, isFinal } = await patiently(() => confirm(gateway, payment, HOLD_MS));
  for (let asked = 0; !isFinal && asked < MAX_TRIES; asked += 1) {
    ({ status, isFinal } = await patiently(() => statusOf(gateway, payment, HOLD_MS)));
  }
  if (status !== 'succeeded') throw new Error(`The payment ended ${status}.`);
}

async function patiently<T>(step: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries < MAX_TRIES; tries += 1) {
    try {
      return await step();
    } catch {
      await sleep(RETRY_MS);
    }
  }
  return step();
}

/** A stranger at one address, with the public App-Id of the checkout and a payment whose id it knows. */
async function floodOf({ port, apiKey, merchants }: PayingGateway): Promise<NoiseOrder> {
  const { text } = await call({
    port,
    method: 'POST',
    path: '/v1/payments',
    headers: { 'Api-Key': apiKey, 'Merchant-Id': merchants[0] ?? '', 'Content-Type': 'application/json' },
    body: JSON.stringify({
      amount: { unit: 'iso4217/USD', value: '100' },
      referenceId: 'FLOOD',
      expiresAt: Math.floor(Date.now() / 1000) + 24 * 3600,
    }),
  });
  const { paymentId } = JSON.parse(text) as { paymentId: string };
  const strangers = await createPayers('flood', FLOOD_ACCOUNTS);
  return {
    port,
    noises: [
      {
        perSecond: FLOOD_PER_S,
        method: 'POST',
        path: `/v1/gateway/payment/${paymentId}/options`,
        headers: {
          'App-Id': CHECKOUT_APPS.test,
          'Client-Id': 'flood',
          'X-Forwarded-For': '203.0.113.7',
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ accounts: strangers.map(({ address }) => `${NETWORK}:${address}`) }),
      },
    ],
  };
}

async function startProvider(targetUrl: string) {
  const ports = await Promise.all(Array.from({ length: ENDPOINTS }, freePort));
  const targets = ports.map((port) => ({ targetUrl, port }));
  const child = startProcess([PROXY], { UNITS_PER_S: String(UNITS_PER_S), TARGETS: JSON.stringify(targets) });
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  for (const url of urls) {
    const isUp = () =>
      fetch(url, { method: 'POST', body }).then(
        () => true as const,
        () => undefined,
      );
    await until('the provider is up', isUp, { withinMs: 20_000 });
  }
  return { urls, stop: () => stopProcess(child) };
}
