import { call } from './calls.ts';
import { type Figure, type Measurement, quantile, round } from './figures.ts';
import type { Gateway } from './gateway.ts';
import { until } from './processes.ts';
import { subscribe } from './webhook-endpoints.ts';
import {
  arrivedAt,
  createMany,
  createSteadily,
  inWebhookScene,
  isServed,
  PAYMENTS_PER_SECOND,
  type WebhookScene,
} from './webhook-scene.ts';

/** The length of the outage, in minutes of the sandbox: `OUTAGE_MINUTES=6` is a quick try. */
const MINUTES = Number(process.env.OUTAGE_MINUTES ?? '60');
const EVENTS_PER_MINUTE = 6_000;
const MINUTE_MS = 60_000;
const STEADY_SECONDS = 15;
/** All deliveries that wait at the end of the outage are due when these steps of time have passed. */
const STEP_MS = 30 * MINUTE_MS;
const SERVED = { withinMs: 1_800_000, everyMs: 5_000 };
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
  await subscribe(scene.gateway, receiver.url('/well'));
  const calmMs = await p99OfOthers(scene);
  await subscribe(scene.gateway, receiver.url('/away'));
  await receiver.answer('/away', 503);
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    await createMany(scene.gateway, EVENTS_PER_MINUTE);
    if (minute === Math.ceil(MINUTES / 2)) {
      // Webhooks of the last payments are on their way.
      process.kill(scene.gateway.pid, 'SIGKILL');
      scene.gateway = await scene.gateway.restart();
    }
    await advance(scene.gateway, MINUTE_MS);
    // Counts what has arrived at the other receiver, and keeps the memory of the receivers small.
    await receiver.arrivals();
  }
  await until('the other receiver has all', () => isServed(scene.gateway, receiver.url('/well')), SERVED);
  await receiver.arrivals();
  const besideMs = await p99OfOthers(scene);
  await receiver.answer('/away', 200);
  const startMs = performance.now();
  const ids = await collectAll(scene);
  const sent = MINUTES * EVENTS_PER_MINUTE + STEADY_SECONDS * PAYMENTS_PER_SECOND;
  const delivered = new Set(ids).size;
  return [
    {
      name: 'webhook_outage',
      value: round(delivered / sent, 6),
      target: { atLeast: 1 },
      unit: 'x',
      detail: {
        'events, of them delivered': [sent, delivered],
        'minutes of the sandbox without the receiver': MINUTES,
        'seconds from its return to the last delivery': round((performance.now() - startMs) / 1000),
      },
    },
    {
      name: 'webhook_outage_duplicates',
      value: round(((ids.length - delivered) * 1000) / sent, 3),
      target: { atMost: 1 },
      unit: 'score',
      detail: { 'requests, of them for other events': [ids.length, delivered] },
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

/** The time from an event to its request at the receiver that is never away, at a steady rate. */
async function p99OfOthers({ gateway, receiver }: WebhookScene): Promise<number> {
  const { aheadMs } = await clockOf(gateway);
  await createSteadily(gateway, STEADY_SECONDS);
  const { sinceEventMs } = await arrivedAt(receiver, '/well', PAYMENTS_PER_SECOND * STEADY_SECONDS);
  // Events carry the time of the sandbox, and the receiver has that of the machine.
  return round(quantile(sinceEventMs, 0.99) + aheadMs);
}

/** The ids of all requests to the receiver that was away. Waits of the schedule pass by the clock of the sandbox. */
async function collectAll({ gateway, receiver }: WebhookScene): Promise<string[]> {
  const ids: string[] = [];
  await until(
    'the receiver that was away has all',
    async () => {
      const { ids: some = [] } = (await receiver.arrivals())['/away'] ?? {};
      for (const id of some) ids.push(id);
      if (await isServed(gateway, receiver.url('/away'))) return true;
      // Nothing that is due is left: the others wait for their next attempt.
      if (some.length === 0) await advance(gateway, STEP_MS);
      return undefined;
    },
    SERVED,
  );
  for (const id of (await receiver.arrivals())['/away']?.ids ?? []) ids.push(id);
  return ids;
}

async function clockOf({ port, apiKey }: Gateway): Promise<{ readonly aheadMs: number }> {
  const { text } = await call({ port, path: '/v1/test/clock', headers: { 'Api-Key': apiKey } });
  return JSON.parse(text);
}

async function advance({ port, apiKey }: Gateway, advanceMs: number): Promise<void> {
  const headers = { 'Api-Key': apiKey, 'Content-Type': 'application/json' };
  await call({ port, method: 'POST', path: '/v1/test/clock', headers, body: JSON.stringify({ advanceMs }) });
}
