import { call, createPayments } from './calls.ts';
import { describeOthers, perSecond, takeTurn } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import { createSide } from './create.ts';
import { compare, type Figure, type Measurement, quantile, round } from './figures.ts';
import { addMerchants, type Gateway, merchantId, settle, startGateway } from './gateway.ts';
import { until } from './processes.ts';
import { createQuiet, shareDuring } from './quiet.ts';
import { atRate } from './steadily.ts';
import { type Receiver, startReceiver, subscribe, subscribeMany } from './webhook-endpoints.ts';
import type { Arrivals } from './webhook-receiver.ts';

const MERCHANTS = 50;
const PAYMENTS_PER_SECOND = 200;
const FIRST_SECONDS = 15;
const BACKLOG = 20_000;
const DRAINED_WITHIN_MS = 300_000;
const ENDPOINTS = 10;
const CREATE_SECONDS = 4;
const CREATE_ROUNDS = 3;

/** Webhooks: the first attempt, the rate, an outage of a receiver, and the cost for creating payments. */
export const webhooksMeasurement: Measurement = {
  names: ['webhook_first_p99_ms', 'webhooks_per_s', 'webhook_outage', 'create_with_webhooks'],
  async measure(wanted) {
    const measures = {
      webhook_first_p99_ms: measureFirst,
      webhooks_per_s: measureRate,
      webhook_outage: measureOutage,
      create_with_webhooks: measureCreate,
    };
    const figures: Figure[] = [];
    for (const [name, measure] of Object.entries(measures)) {
      if (!wanted.has(name)) continue;
      const gateway = await startGateway();
      const receiver = await startReceiver();
      const scene: Scene = { gateway, receiver };
      try {
        await addMerchants(gateway, MERCHANTS);
        figures.push(await measure(scene));
      } finally {
        await receiver.stop();
        await scene.gateway.stop();
      }
    }
    return figures;
  },
};

interface Scene {
  gateway: Gateway;
  readonly receiver: Receiver;
}

async function measureFirst({ gateway, receiver }: Scene): Promise<Figure> {
  await subscribe(gateway, receiver.url('/first'));
  const { others } = await shareDuring(() => createSteadily(gateway, FIRST_SECONDS));
  const { sinceEventMs } = await arrivedAt(receiver, '/first', PAYMENTS_PER_SECOND * FIRST_SECONDS);
  return {
    name: 'webhook_first_p99_ms',
    value: round(quantile(sinceEventMs, 0.99)),
    target: { atMost: 250 },
    unit: 'ms',
    detail: {
      'deliveries measured': sinceEventMs.length,
      'median in ms': quantile(sinceEventMs, 0.5),
      ...describeOthers([others]),
    },
  };
}

async function measureRate({ gateway, receiver }: Scene): Promise<Figure> {
  await createPayments(gateway, { count: BACKLOG, merchants: MERCHANTS });
  const endpointId = await subscribe(gateway, receiver.url('/rate'));
  const before = await readCpuUse(gateway.pid);
  const { others } = await shareDuring(async () => {
    // As many deliveries as there are events, all due at once.
    await gateway.sql`
      insert into webhook_deliveries (endpoint_id, event_id, created_at, begun_at, due_at)
      select ${endpointId}, id, now(), now(), now() from events where type = 'payment.created'
      on conflict do nothing`;
    await drained(gateway);
  });
  const after = await readCpuUse(gateway.pid);
  const eachUs = [after.ownMs - before.ownMs, after.belowMs - before.belowMs].map((ms) => round((ms * 1000) / BACKLOG));
  const { atMs } = await arrivedAt(receiver, '/rate', BACKLOG);
  const tookMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0);
  return {
    name: 'webhooks_per_s',
    value: round((atMs.length * 1000) / tookMs),
    target: { atLeast: 1_500 },
    unit: '/s',
    detail: {
      deliveries: atMs.length,
      'processor time per delivery in µs: the gateway, PostgreSQL': eachUs,
      'seconds from the first to the last': round(tookMs / 1000, 1),
      ...describeOthers([others]),
    },
  };
}

/** One receiver is away while events happen, and the gateway is killed meanwhile. Another receiver is served all the time. */
async function measureOutage(scene: Scene): Promise<Figure> {
  const { receiver } = scene;
  await subscribe(scene.gateway, receiver.url('/well'));
  await createSteadily(scene.gateway, FIRST_SECONDS);
  const calm = await arrivedAt(receiver, '/well', PAYMENTS_PER_SECOND * FIRST_SECONDS);
  await subscribe(scene.gateway, receiver.url('/away'));
  await receiver.answer('/away', 503);
  await createPayments(scene.gateway, { count: BACKLOG, merchants: MERCHANTS });
  process.kill(scene.gateway.pid, 'SIGKILL');
  scene.gateway = await scene.gateway.restart();
  await until('the other receiver has all', () => isServed(scene.gateway, receiver.url('/well')), PATIENT);
  await receiver.arrivals();
  await createSteadily(scene.gateway, FIRST_SECONDS);
  const beside = await arrivedAt(receiver, '/well', PAYMENTS_PER_SECOND * FIRST_SECONDS);
  await receiver.answer('/away', 200);
  // The schedule waits for hours: the waits are cut, and what is due is delivered as it would be then.
  await until(
    'the receiver that was away has all',
    async () => {
      await scene.gateway.sql`
        update webhook_deliveries set due_at = now() where status = 'pending' and not is_claimed and due_at > now()`;
      return isServed(scene.gateway, receiver.url('/away'));
    },
    { ...PATIENT, everyMs: 1_000 },
  );
  const { ids } = (await receiver.arrivals())['/away'] ?? { ids: [] };
  const delivered = new Set(ids).size;
  const sent = BACKLOG + PAYMENTS_PER_SECOND * FIRST_SECONDS;
  return {
    name: 'webhook_outage',
    value: round(delivered / sent, 4),
    target: { atLeast: 1 },
    unit: 'x',
    detail: {
      'events, of them delivered': [sent, delivered],
      'duplicates per 1,000': round(((ids.length - delivered) * 1000) / sent, 2),
      'p99 of another receiver in ms, before and beside the outage': [
        quantile(calm.sinceEventMs, 0.99),
        quantile(beside.sinceEventMs, 0.99),
      ],
    },
  };
}

/** Creating payments with ten endpoints subscribed, compared with none. */
async function measureCreate({ gateway, receiver }: Scene): Promise<Figure> {
  const side = createSide(gateway);
  const quiet = createQuiet();
  const endpoints = await subscribeMany(gateway, { receiver, count: ENDPOINTS, events: ['payment.created'] });
  const turn = { connections: 64, seconds: CREATE_SECONDS };
  await endpoints.set('disabled');
  await side.run({ ...turn, isWarmUp: true });
  const withEndpoints: number[] = [];
  const without: number[] = [];
  for (let done = 0; done < CREATE_ROUNDS; done += 1) {
    await endpoints.set('active');
    withEndpoints.push(perSecond(await takeTurn(quiet, side, turn)));
    await endpoints.set('disabled');
    await settle(gateway);
    await endpoints.dropBacklog();
    without.push(perSecond(await takeTurn(quiet, side, turn)));
  }
  const { ratio, byRound } = compare(withEndpoints, without);
  return {
    name: 'create_with_webhooks',
    value: ratio,
    target: { atLeast: 0.9 },
    unit: 'x',
    detail: {
      [`payments/s with ${ENDPOINTS} endpoints`]: withEndpoints.map((value) => round(value)),
      'payments/s without': without.map((value) => round(value)),
      'ratio by round': byRound,
    },
  };
}

const PATIENT = { withinMs: DRAINED_WITHIN_MS, everyMs: 250 };

/** Creates payments at a steady rate. */
async function createSteadily({ port, apiKey }: Gateway, seconds: number): Promise<void> {
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  const body = JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'STEADY', expiresAt });
  await atRate({ seconds, perSecond: PAYMENTS_PER_SECOND }, (number) => {
    const merchant = merchantId((number % MERCHANTS) + 1);
    const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchant, 'Content-Type': 'application/json' };
    return call({ port, method: 'POST', path: '/v1/payments', headers, body });
  });
}

/** Waits until no delivery is pending. */
async function drained({ sql }: Gateway): Promise<void> {
  const isDone = async () => {
    const [row] = await sql<{ isLeft: boolean }[]>`
      select exists (select from webhook_deliveries where status = 'pending') as "isLeft"`;
    return row?.isLeft ? undefined : true;
  };
  await until('all webhooks are delivered', isDone, PATIENT);
}

/** True if all events so far are delivered to the URL. */
async function isServed({ sql }: Gateway, url: string): Promise<true | undefined> {
  const [row] = await sql<{ isLeft: boolean }[]>`
    select exists (select from outbox) or (select position from webhook_cursor) < (
        select position + size - 1 from event_batches order by event_batches.position desc limit 1)
      or exists (
        select from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
        where w.url = ${url} and d.status = 'pending') as "isLeft"`;
  return row?.isLeft ? undefined : true;
}

async function arrivedAt(receiver: Receiver, path: string, count: number): Promise<Arrivals> {
  const all = { ids: [] as string[], sinceEventMs: [] as number[], atMs: [] as number[] };
  await until(
    `${count} webhooks have arrived`,
    async () => {
      const some = (await receiver.arrivals())[path];
      all.ids.push(...(some?.ids ?? []));
      all.sinceEventMs.push(...(some?.sinceEventMs ?? []));
      all.atMs.push(...(some?.atMs ?? []));
      return all.ids.length >= count ? true : undefined;
    },
    PATIENT,
  );
  return all;
}
