import { describeOthers, describeTurns, perSecond, type Turn, takeTurn } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import { createSide } from './create.ts';
import { compare, type Figure, type Measurement, median, quantile, round } from './figures.ts';
import { type Gateway, settle } from './gateway.ts';
import { until } from './processes.ts';
import { createQuiet, shareDuring } from './quiet.ts';
import { type Receiver, subscribe, subscribeMany } from './webhook-endpoints.ts';
import {
  arrivedAt,
  createMany,
  createSteadily,
  inWebhookScene,
  PATIENT,
  PAYMENTS_PER_SECOND,
  type WebhookScene,
} from './webhook-scene.ts';

const FIRST_SECONDS = 15;
const BACKLOG = 20_000;
const ENDPOINTS = 10;
const CREATE_SECONDS = 4;
const CREATE_ROUNDS = 5;

/** Webhooks: the first attempt, the rate, and the cost for creating payments. */
export const webhooksMeasurement: Measurement = {
  names: ['webhook_first_p99_ms', 'webhooks_per_s', 'create_with_webhooks'],
  async measure(wanted) {
    const measures = {
      webhook_first_p99_ms: measureFirst,
      webhooks_per_s: measureRate,
      create_with_webhooks: measureCreate,
    };
    const figures: Figure[] = [];
    for (const [name, measure] of Object.entries(measures)) {
      if (wanted.has(name)) figures.push(await inWebhookScene(measure));
    }
    return figures;
  },
};

async function measureFirst({ gateway, receiver }: WebhookScene): Promise<Figure> {
  await subscribe(gateway, receiver.url('/first'));
  const { others } = await shareDuring(() => createSteadily(gateway, { seconds: FIRST_SECONDS }));
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

async function measureRate({ gateway, receiver }: WebhookScene): Promise<Figure> {
  await createMany(gateway, BACKLOG);
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

/** Creating payments with ten endpoints subscribed, compared with none. */
async function measureCreate({ gateway, receiver }: WebhookScene): Promise<Figure> {
  const side = createSide(gateway);
  const quiet = createQuiet();
  const endpoints = await subscribeMany(gateway, { receiver, count: ENDPOINTS, events: ['payment.created'] });
  const turn = { connections: 64, seconds: CREATE_SECONDS };
  // A node that has just started compiles the code of creates and of deliveries.
  await side.run({ ...turn, isWarmUp: true });
  // The events of a turn are behind it: the next one would begin with their deliveries.
  const clear = async () => {
    await endpoints.set('disabled');
    await settle(gateway);
    await endpoints.dropBacklog();
  };
  const withEndpoints: HookTurn[] = [];
  const without: Turn[] = [];
  for (let done = 0; done < CREATE_ROUNDS; done += 1) {
    await clear();
    await endpoints.set('active');
    withEndpoints.push(await takeHookTurn(receiver, () => takeTurn(quiet, side, turn)));
    await clear();
    without.push(await takeTurn(quiet, side, turn));
  }
  const { ratio, byRound } = compare(withEndpoints.map(perSecond), without.map(perSecond));
  return {
    name: 'create_with_webhooks',
    value: ratio,
    target: { atLeast: 0.9 },
    unit: 'x',
    detail: {
      ...describeTurns(`with ${ENDPOINTS} endpoints`, turn.connections, withEndpoints),
      'webhooks received in a turn, processor time of the receiver for each in µs': [
        round(median(withEndpoints.map(({ received }) => received))),
        round(median(withEndpoints.map(({ receiverUs }) => receiverUs))),
      ],
      ...describeTurns('without', turn.connections, without),
      'ratio by round': byRound,
      ...describeOthers([...withEndpoints, ...without].map(({ others }) => others)),
    },
  };
}

interface HookTurn extends Turn {
  readonly received: number;
  readonly receiverUs: number;
}

/** A turn, with the webhooks of that time. The receiver shares the cores, which is no cost of the gateway. */
async function takeHookTurn(receiver: Receiver, take: () => Promise<Turn>): Promise<HookTurn> {
  await receiver.arrivals();
  const before = await readCpuUse(receiver.pid);
  const turn = await take();
  const after = await readCpuUse(receiver.pid);
  const arrivals = Object.values(await receiver.arrivals());
  const received = arrivals.reduce((sum, { ids }) => sum + ids.length, 0);
  return { ...turn, received, receiverUs: ((after.ownMs - before.ownMs) * 1000) / received };
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
