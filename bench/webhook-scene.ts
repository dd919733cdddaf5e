import { call, createPayments } from './calls.ts';
import { addMerchants, type Gateway, merchantId, startGateway } from './gateway.ts';
import { until } from './processes.ts';
import { atRate } from './steadily.ts';
import { type Receiver, startReceiver } from './webhook-endpoints.ts';
import type { Arrivals } from './webhook-receiver.ts';

/** The merchants of the scene. */
export const MERCHANTS = 50;
export const PAYMENTS_PER_SECOND = 200;
export const PATIENT = { withinMs: 300_000, everyMs: 250 };

/** A gateway and a receiver of webhooks, each in a process of its own. */
export interface WebhookScene {
  gateway: Gateway;
  readonly receiver: Receiver;
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

/** Creates payments at a steady rate, for all merchants or for one. */
export async function createSteadily(
  { port, apiKey }: Gateway,
  { seconds, merchant }: { readonly seconds: number; readonly merchant?: string },
): Promise<void> {
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  const body = JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'STEADY', expiresAt });
  await atRate({ seconds, perSecond: PAYMENTS_PER_SECOND }, (number) => {
    const owner = merchant ?? merchantId((number % MERCHANTS) + 1);
    const headers = { 'Api-Key': apiKey, 'Merchant-Id': owner, 'Content-Type': 'application/json' };
    return call({ port, method: 'POST', path: '/v1/payments', headers, body });
  });
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

export async function arrivedAt(receiver: Receiver, path: string, count: number): Promise<Arrivals> {
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
