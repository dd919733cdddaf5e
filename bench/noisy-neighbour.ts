import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './calls.ts';
import { compare, type Figure, type Measurement, quantile, round } from './figures.ts';
import { addMerchants, type Gateway, merchantId, startGateway, USUAL_LIMITS } from './gateway.ts';
import { loadPayments } from './loader.ts';
import type { Noise, NoiseOrder, NoiseReport } from './noise-client.ts';
import { createPartners } from './partners.ts';
import { messageOf, startClient, stopProcess } from './processes.ts';

const PAYMENTS = 300_000;
const ROUNDS = 5;
const CREATES_PER_ROUND = 200;
const PAUSE_MS = 20;
/** The noise is steady by then. */
const NOISE_WARM_UP_MS = 2_000;

/** The p99 of one partner's creates beside another partner that uses all its limits, and without it. */
export const noisyNeighbourMeasurement: Measurement = {
  names: ['noisy_neighbour'],
  async measure(_wanted, { payments = PAYMENTS }) {
    const started = await startGateway(USUAL_LIMITS);
    await addMerchants(started, 2);
    const gateway = await started.restart((sql) =>
      loadPayments(sql, { merchants: 1, perMerchant: 100, largest: payments }),
    );
    try {
      return [await besideNoise(gateway, payments)];
    } finally {
      await gateway.stop();
    }
  },
};

async function besideNoise(gateway: Gateway, payments: number): Promise<Figure> {
  const headers = await quietPartner(gateway);
  const create = () => timesOf(gateway, headers);
  const order: NoiseOrder = { port: gateway.port, noises: await noisesOf(gateway) };
  const alone: number[] = [];
  const beside: number[] = [];
  const answers: string[] = [];
  // The first round is not counted: a node that has just started compiles the code of every kind of request.
  for (let done = 0; done <= ROUNDS; done += 1) {
    const times = { alone: await create(), beside: [] as number[] };
    const client = startClient(new URL('./noise-client.ts', import.meta.url));
    client.send(order);
    await sleep(NOISE_WARM_UP_MS);
    times.beside = await create();
    client.send('report');
    const report = JSON.stringify(await messageOf<NoiseReport>(client, { withinMs: 10_000 }));
    await stopProcess(client);
    if (done === 0) continue;
    alone.push(quantile(times.alone, 0.99));
    beside.push(quantile(times.beside, 0.99));
    answers.push(report);
  }
  const { ratio, byRound } = compare(beside, alone);
  return {
    name: 'noisy_neighbour',
    value: ratio,
    target: { atMost: 3 },
    unit: 'x',
    detail: {
      'p99 of creates in ms, alone': alone.map((ms) => round(ms, 1)),
      'p99 of creates in ms, beside the noise': beside.map((ms) => round(ms, 1)),
      'ratio by round': byRound,
      [`answers to the noise by status, ${payments} payments`]: answers.join('; '),
    },
  };
}

/** Milliseconds of creates, one after another with pauses, as a shop sends them. */
async function timesOf({ port }: Gateway, headers: Readonly<Record<string, string>>): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < CREATES_PER_ROUND; count += 1) {
    const body = JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: `QUIET-${count}` });
    const { ms } = await call({ port, method: 'POST', path: '/v1/payments', headers, body });
    times.push(ms);
    await sleep(PAUSE_MS);
  }
  return times;
}

/** A second partner with one merchant. */
async function quietPartner({ databaseUrl, port }: Gateway): Promise<Record<string, string>> {
  const [partner] = await createPartners(databaseUrl.href, { count: 1 });
  const headers = { 'Api-Key': partner?.apiKey ?? '', 'Content-Type': 'application/json' };
  const { text } = await call({
    port,
    method: 'POST',
    path: '/v1/merchants',
    headers: { ...headers, 'Idempotency-Key': 'quiet' },
    body: JSON.stringify({ merchantName: 'Quiet', merchantEmail: 'quiet@example.com' }),
  });
  return { ...headers, 'Merchant-Id': (JSON.parse(text) as { merchant: { id: string } }).merchant.id };
}

/** Requests of the partner with many payments: together as many as its key, and its address, may send. */
async function noisesOf({ sql, apiKey }: Gateway): Promise<Noise[]> {
  const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchantId(2), 'Content-Type': 'application/json' };
  const [payment] = await sql<{ id: string }[]>`
    select id from payments where merchant_id = ${merchantId(2)} and status = 'requires_action' limit 1`;
  const list = (query: string): Noise => ({
    perSecond: 40,
    method: 'GET',
    path: `/v1/merchants/payments?${query}`,
    headers,
  });
  return [
    list('sortBy=amount'),
    list('referenceId=ORDER'),
    list('startTs=2020-01-01T12:00:00Z&sortBy=amount&sortDir=asc'),
    { perSecond: 200, method: 'GET', path: `/v1/payments/${payment?.id}/status`, headers },
    {
      perSecond: 180,
      method: 'POST',
      path: `/v1/gateway/payment/${payment?.id}/options`,
      headers,
      body: JSON.stringify({ accounts: [`eip155:31337:0x${'1'.repeat(40)}`] }),
    },
    { perSecond: 100, method: 'GET', path: '/docs', headers: {} },
  ];
}
