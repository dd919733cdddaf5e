import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, createPayments } from './calls.ts';
import { addMerchants, type Gateway, merchantId, startGateway } from './gateway.ts';
import { messageOf, startClient, stopProcess, until } from './processes.ts';
import type { Arrivals, ReceiverOrder, ReceiverReport } from './webhook-receiver.ts';

/** The merchants of the scene. */
const MERCHANTS = 50;
export const PAYMENTS_PER_SECOND = 200;
const REPORT_MS = 60_000;
export const PATIENT = { withinMs: 300_000, everyMs: 250 };

/** A gateway and a receiver of webhooks, each in a process of its own. */
export interface WebhookScene {
  gateway: Gateway;
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
}

/** Runs a measurement in a fresh scene. */
export async function inWebhookScene<T>(measure: (scene: WebhookScene) => Promise<T>): Promise<T> {
  const gateway = await startGateway();
  const receiver = await startReceiver();
  const scene: WebhookScene = { gateway, receiver };
  try {
    await addMerchants(gateway, MERCHANTS);
    return await measure(scene);
  } finally {
    await receiver.stop();
    await scene.gateway.stop();
  }
}

/** Creates payments as quickly as the gateway takes them. */
export async function createMany(gateway: Gateway, count: number): Promise<void> {
  await createPayments(gateway, { count, merchants: MERCHANTS });
}

/** Creates payments at a steady rate. */
export async function createSteadily(gateway: Gateway, seconds: number): Promise<void> {
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  const body = JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'STEADY', expiresAt });
  const calls: Promise<unknown>[] = [];
  const startMs = performance.now();
  for (let number = 0; number < seconds * PAYMENTS_PER_SECOND; number += 1) {
    const dueMs = startMs + (number * 1000) / PAYMENTS_PER_SECOND;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const headers = {
      'Api-Key': gateway.apiKey,
      'Merchant-Id': merchantId((number % MERCHANTS) + 1),
      'Content-Type': 'application/json',
    };
    calls.push(call({ port: gateway.port, method: 'POST', path: '/v1/payments', headers, body }));
  }
  await Promise.all(calls);
}

export async function subscribe({ port, apiKey }: Gateway, url: string): Promise<string> {
  const { text } = await call({
    port,
    method: 'POST',
    path: '/v1/webhook-endpoints',
    headers: { 'Api-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url, events: ['payment.created'] }),
  });
  return (JSON.parse(text) as { webhookEndpoint: { id: string } }).webhookEndpoint.id;
}

/** True if all events so far are delivered to the URL. */
export async function isServed({ sql }: Gateway, url: string): Promise<true | undefined> {
  const [row] = await sql<{ isLeft: boolean }[]>`
    select exists (select from outbox) or (select position from webhook_cursor) < (
        select position + size - 1 from event_batches order by event_batches.position desc limit 1)
      or exists (
        select from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
        where w.url = ${url} and d.status = 'pending') as "isLeft"`;
  return row?.isLeft ? undefined : true;
}

export async function arrivedAt(receiver: WebhookScene['receiver'], path: string, count: number): Promise<Arrivals> {
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

async function startReceiver() {
  const child: ChildProcess = startClient(new URL('./webhook-receiver.ts', import.meta.url));
  const ask = <T extends ReceiverReport>(order: ReceiverOrder): Promise<T> => {
    const report = messageOf<T>(child, { withinMs: REPORT_MS });
    child.send(order);
    return report;
  };
  const port = await ask<number>({ ask: 'port' });
  return {
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    arrivals: () => ask<Readonly<Record<string, Arrivals>>>({ ask: 'arrivals' }),
    answer: (path: string, status: number) => ask<number>({ ask: 'answer', path, status }),
    stop: () => stopProcess(child),
  };
}
