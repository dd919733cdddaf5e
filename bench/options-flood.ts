import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CHECKOUT_APPS } from '../src/actions/parties/open-checkout.ts';
import { call } from './calls.ts';
import { describeOthers } from './contest.ts';
import { type Figure, type Measurement, median, quantile, round } from './figures.ts';
import type { ProviderUse } from './metered-proxy-server.ts';
import type { NoiseOrder, NoiseReport } from './noise-client.ts';
import { ASSET, NETWORK, startPayingChain, USDC } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers, type Payer } from './paying-payers.ts';
import { confirm, signPayment, statusOf } from './paying-wallet.ts';
import { freePort, messageOf, startClient, startProcess, stopProcess, until } from './processes.ts';
import { shareDuring } from './quiet.ts';

const BLOCK_MS = 1_000;
const ENDPOINTS = 2;
const UNITS_PER_S = 660;
const ROUNDS = Number(process.env.FLOOD_ROUNDS ?? 7);
const PAYERS = 6;
const PAYMENTS_EACH = 4;
const FLOOD_PER_S = 10;
const FLOOD_ACCOUNTS = 100;
/** The flood has used up its first allowance by then. */
const WARM_UP_MS = 3_000;
const HOLD_MS = 20_000;
const RETRY_MS = 1_000;
const MAX_TRIES = 60;
const PROXY = fileURLToPath(new URL('./metered-proxy-server.ts', import.meta.url));

/** Payments of honest payers while a stranger floods the endpoints with questions for options, and without it. */
export const optionsFloodMeasurement: Measurement = {
  names: ['options_flood'],
  measure: async () => [await measureFlood()],
};

/** A turn: so many payments of each payer, with the time of each, and what the provider counted meanwhile. */
interface FloodTurn {
  readonly isFlooded: boolean;
  readonly timesMs: readonly number[];
  readonly signedMs: readonly number[];
  readonly perS: number;
  /** Steps of honest payers that were refused and tried again. */
  readonly repeated: number;
  readonly unitsPerS: number;
  /** Requests to the endpoints that the provider refused, of all. */
  readonly refused: string;
  /** Answers to the flood by status. */
  readonly flood: string;
}

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
    const take = (order?: NoiseOrder) => takeTurn({ gateway, payers, provider }, order);
    await take();
    const { result: turns, others } = await shareDuring(async () => {
      const taken: FloodTurn[] = [];
      // A B, B A, A B: a machine that becomes slower affects both sides alike.
      for (let done = 0; done < ROUNDS; done += 1) {
        for (const order of done % 2 === 0 ? [undefined, flood] : [flood, undefined]) taken.push(await take(order));
      }
      return taken;
    });
    return figureOf(turns, others);
  } finally {
    await gateway.stop();
    await provider.stop();
    await chain.stop();
  }
}

/**
 * The speed of a payer is one payment over its time. The median of all payments does not depend on single moments in which the
 * machine was busy, as the time of the slowest payer of a turn does.
 */
function figureOf(turns: readonly FloodTurn[], others: number): Figure {
  const [alone, beside] = [false, true].map((isFlooded) => turns.filter((turn) => turn.isFlooded === isFlooded));
  const timesOf = (of: readonly FloodTurn[] = []) => of.flatMap(({ timesMs }) => timesMs);
  const medians = (of: readonly FloodTurn[] = []) => of.map(({ timesMs }) => round(median(timesMs)));
  const figures = (of: readonly FloodTurn[] = []) => ({
    payments: timesOf(of).length,
    'median ms by round': medians(of).join(' '),
    'median ms until signed by round': of.map(({ signedMs }) => round(median(signedMs))).join(' '),
    'payments/s by round': of.map(({ perS }) => round(perS, 2)).join(' '),
    'steps tried again by round': of.map(({ repeated }) => repeated).join(' '),
    'units/s by round': of.map(({ unitsPerS }) => round(unitsPerS)).join(' '),
    'requests refused by the provider': of.map(({ refused }) => refused).join(' '),
  });
  const named = (side: string, facts: object) =>
    Object.fromEntries(Object.entries(facts).map(([name, value]) => [`${side}: ${name}`, value]));
  return {
    name: 'options_flood',
    value: round(median(timesOf(alone)) / median(timesOf(beside)), 3),
    target: { atLeast: 0.95 },
    unit: 'x',
    detail: {
      'ms of a payment, median and 95th percentile, alone': spreadOf(timesOf(alone)),
      'ms of a payment, median and 95th percentile, beside the flood': spreadOf(timesOf(beside)),
      'ratio by round': medians(alone).map((ms, index) => round(ms / (medians(beside)[index] ?? Number.NaN), 3)),
      ...named('alone', figures(alone)),
      ...named('beside', figures(beside)),
      'answers to the flood by status': (beside ?? []).map(({ flood }) => flood).join('; '),
      'units a second of each endpoint, endpoints': [UNITS_PER_S, ENDPOINTS],
      ...describeOthers([others]),
    },
  };
}

function spreadOf(timesMs: readonly number[]): number[] {
  return [round(median(timesMs)), round(quantile(timesMs, 0.95))];
}

interface FloodScene {
  readonly gateway: PayingGateway;
  readonly payers: readonly Payer[];
  readonly provider: Provider;
}

/** Each payer makes one payment after another, beside the flood if there is one. */
async function takeTurn({ gateway, payers, provider }: FloodScene, flood?: NoiseOrder): Promise<FloodTurn> {
  const client = flood === undefined ? undefined : startClient(new URL('./noise-client.ts', import.meta.url));
  client?.send(flood as NoiseOrder);
  // Also without a flood: both sides begin after a pause.
  await sleep(WARM_UP_MS);
  const before = await provider.use();
  const begun = performance.now();
  const paid = await Promise.all(
    payers.map(async (payer) => {
      const payments: Paid[] = [];
      for (let done = 0; done < PAYMENTS_EACH; done += 1) payments.push(await pay(gateway, payer));
      return payments;
    }),
  );
  const tookS = (performance.now() - begun) / 1000;
  const after = await provider.use();
  const payments = paid.flat();
  client?.send('report');
  const answers = client === undefined ? {} : await messageOf<NoiseReport>(client, { withinMs: 10_000 });
  if (client !== undefined) await stopProcess(client);
  return {
    isFlooded: flood !== undefined,
    timesMs: payments.map(({ ms }) => ms),
    signedMs: payments.map((payment) => payment.signedMs),
    perS: payments.length / tookS,
    repeated: payments.reduce((sum, { repeated }) => sum + repeated, 0),
    unitsPerS: (after.units - before.units) / tookS,
    refused: `${after.refused - before.refused}/${after.requests - before.requests}`,
    flood: JSON.stringify(answers),
  };
}

interface Paid {
  readonly ms: number;
  /** Until the payer has options and has signed: the part with questions to the endpoints like those of the flood. */
  readonly signedMs: number;
  readonly repeated: number;
}

/** A refused step is tried again, as a person would. */
async function pay(gateway: PayingGateway, payer: Payer): Promise<Paid> {
  const merchant = gateway.merchants[0] ?? '';
  const begun = performance.now();
  let repeated = 0;
  const patiently = async <T>(step: () => Promise<T>): Promise<T> => {
    for (let tries = 1; tries < MAX_TRIES; tries += 1) {
      try {
        return await step();
      } catch {
        repeated += 1;
        await sleep(RETRY_MS);
      }
    }
    return step();
  };
  const payment = await patiently(() => signPayment(gateway, { payer, merchant, asset: ASSET, price: '100' }));
  const signedMs = performance.now() - begun;
  let { status, isFinal } = await patiently(() => confirm(gateway, payment, HOLD_MS));
  for (let asked = 0; !isFinal && asked < MAX_TRIES; asked += 1) {
    ({ status, isFinal } = await patiently(() => statusOf(gateway, payment, HOLD_MS)));
  }
  if (status !== 'succeeded') throw new Error(`The payment ended ${status}.`);
  return { ms: performance.now() - begun, signedMs, repeated };
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

interface Provider {
  readonly urls: readonly string[];
  use(): Promise<ProviderUse>;
  stop(): Promise<void>;
}

async function startProvider(targetUrl: string): Promise<Provider> {
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
  const use = async () => (await (await fetch(urls[0] ?? '')).json()) as ProviderUse;
  return { urls, use, stop: () => stopProcess(child) };
}
