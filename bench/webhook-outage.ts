import { call } from './calls.ts';
import { type Figure, type Measurement, quantile, round } from './figures.ts';
import { type Gateway, merchantId } from './gateway.ts';
import { until } from './processes.ts';
import { subscribe } from './webhook-endpoints.ts';
import {
  arrivedAt,
  createSteadily,
  inWebhookScene,
  isServed,
  MERCHANTS,
  PAYMENTS_PER_SECOND,
  type WebhookScene,
} from './webhook-scene.ts';
import { writePayments } from './write-payments.ts';

/** The length of the outage, in minutes of the sandbox: `OUTAGE_MINUTES=6` is a quick try. */
const MINUTES = Number(process.env.OUTAGE_MINUTES ?? '60');
const EVENTS_PER_MINUTE = 6_000;
const MINUTE_MS = 60_000;
const STEADY_SECONDS = 15;
/** The other receiver gets the events of this merchant, a fiftieth of all, and all of the steady payments. */
const WELL_MERCHANT = merchantId(1);
/** All deliveries that wait at the end of the outage are due when these steps of time have passed. */
const STEP_MS = 30 * MINUTE_MS;
const SERVED = { withinMs: 1_800_000, everyMs: 2_000 };
/** The claims of a killed gateway end within 30 s. */
const CLAIMED = { withinMs: 120_000, everyMs: 50 };
/** The p99 of two runs without any outage differs by up to this factor. */
const NOISE = 1.5;

/**
 * A receiver is away for an hour of the sandbox while 100 events a second happen, and the gateway is killed in the middle.
 * Another receiver is served all the time.
 */
export const webhookOutageMeasurement: Measurement = {
  names: ['webhook_outage', 'webhook_outage_duplicates', 'webhook_outage_others'],
  isLarge: true,
  measure: () => inWebhookScene(measureOutage),
};

async function measureOutage(scene: WebhookScene): Promise<Figure[]> {
  const { receiver } = scene;
  const startMs = performance.now();
  const received: Received = { well: [], away: [] };
  await subscribe(scene.gateway, receiver.url('/well'), { merchantIds: [WELL_MERCHANT] });
  const calmMs = await p99OfOthers(scene, received);
  await subscribe(scene.gateway, receiver.url('/away'));
  await receiver.answer('/away', 503);
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    const { aheadMs } = await clockOf(scene.gateway);
    await writePayments(scene.gateway, { count: EVENTS_PER_MINUTE, merchants: MERCHANTS, aheadMs });
    if (minute === Math.ceil(MINUTES / 2)) {
      // Webhooks of the last payments are on their way.
      process.kill(scene.gateway.pid, 'SIGKILL');
      scene.gateway = await scene.gateway.restart();
    }
    await advance(scene.gateway, MINUTE_MS);
    await collect(scene, received);
  }
  await until('the other receiver has all', () => isServed(scene.gateway, receiver.url('/well')), SERVED);
  await collect(scene, received);
  const besideMs = await p99OfOthers(scene, received);
  await receiver.answer('/away', 200);
  const returnMs = performance.now();
  await collectAll(scene, received);
  const endMs = performance.now();
  const written = MINUTES * EVENTS_PER_MINUTE;
  const steady = STEADY_SECONDS * PAYMENTS_PER_SECOND;
  const sent = { well: written / MERCHANTS + 2 * steady, away: written + steady };
  const delivered = { well: new Set(received.well).size, away: new Set(received.away).size };
  const all = ({ well, away }: Record<keyof Received, number>) => well + away;
  const requests = received.well.length + received.away.length;
  return [
    {
      name: 'webhook_outage',
      value: round(all(delivered) / all(sent), 6),
      target: { atLeast: 1 },
      unit: 'x',
      detail: {
        'events for the receiver that was away, of them delivered': [sent.away, delivered.away],
        'events for the other receiver, of them delivered': [sent.well, delivered.well],
        'minutes of the sandbox without the receiver': MINUTES,
        'seconds from its return to the last delivery': round((endMs - returnMs) / 1000),
        'seconds of the whole run': round((endMs - startMs) / 1000),
      },
    },
    {
      name: 'webhook_outage_duplicates',
      value: round(((requests - all(delivered)) * 1000) / all(sent), 3),
      target: { atMost: 1 },
      unit: 'score',
      detail: { 'requests, of them for other events': [requests, all(delivered)] },
    },
    {
      name: 'webhook_outage_others',
      value: round(besideMs / calmMs, 2),
      target: { atMost: NOISE },
      unit: 'x',
      detail: { 'p99 of another receiver in ms, before and beside the outage': [calmMs, besideMs] },
    },
  ];
}

/** Ids of the events that the receivers accepted, in the order of their requests. */
interface Received {
  readonly well: string[];
  readonly away: string[];
}

/** Takes over the ids that have arrived since the last call. Returns the number of those at the receiver that was away. */
async function collect({ receiver }: WebhookScene, received: Received): Promise<number> {
  const arrivals = await receiver.arrivals();
  for (const id of arrivals['/well']?.ids ?? []) received.well.push(id);
  for (const id of arrivals['/away']?.ids ?? []) received.away.push(id);
  return arrivals['/away']?.ids.length ?? 0;
}

/** The time from an event to its request at the receiver that is never away, at a steady rate. */
async function p99OfOthers({ gateway, receiver }: WebhookScene, received: Received): Promise<number> {
  const { aheadMs } = await clockOf(gateway);
  await createSteadily(gateway, { seconds: STEADY_SECONDS, merchant: WELL_MERCHANT });
  const { ids, sinceEventMs } = await arrivedAt(receiver, '/well', PAYMENTS_PER_SECOND * STEADY_SECONDS);
  received.well.push(...ids);
  // Events carry the time of the sandbox, and the receiver has that of the machine.
  return round(quantile(sinceEventMs, 0.99) + aheadMs);
}

/** Waits until the receiver that was away has all. Waits of the schedule pass by the clock of the sandbox. */
async function collectAll(scene: WebhookScene, received: Received): Promise<void> {
  const { gateway, receiver } = scene;
  await until(
    'the receiver that was away has all',
    async () => {
      const count = await collect(scene, received);
      if (await isServed(gateway, receiver.url('/away'))) return true;
      // Nothing that is due is left: the others wait for their next attempt.
      if (count === 0) await advance(gateway, STEP_MS);
      return undefined;
    },
    SERVED,
  );
  await collect(scene, received);
}

async function clockOf({ port, apiKey }: Gateway): Promise<{ readonly aheadMs: number }> {
  const { text } = await call({ port, path: '/v1/test/clock', headers: { 'Api-Key': apiKey } });
  return JSON.parse(text);
}

/**
 * Moves the time of the sandbox while no delivery is claimed: claims end by that time, and an attempt that outlives its claim
 * is repeated.
 */
async function advance({ port, apiKey, sql }: Gateway, advanceMs: number): Promise<void> {
  const isIdle = async () => {
    const [row] = await sql<{ isClaimed: boolean }[]>`
      select exists (select from webhook_deliveries where status = 'pending' and is_claimed) as "isClaimed"`;
    return row?.isClaimed ? undefined : true;
  };
  await until('no delivery is claimed', isIdle, CLAIMED);
  const headers = { 'Api-Key': apiKey, 'Content-Type': 'application/json' };
  await call({ port, method: 'POST', path: '/v1/test/clock', headers, body: JSON.stringify({ advanceMs }) });
}
