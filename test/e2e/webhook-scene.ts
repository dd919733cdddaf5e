import assert from 'node:assert/strict';
import type { Logger } from 'pino';
import { command } from '../../src/actions/command.ts';
import { createCourier } from '../../src/actions/webhooks/courier.ts';
import { createBodyReader } from '../../src/actions/webhooks/event-bodies.ts';
import { FAN_OUT_LEASE, fanOutOnce, replayOnce } from '../../src/actions/webhooks/fan-out.ts';
import type { Exchange } from '../../src/guarded-http/exchange.ts';
import { openReceivers } from '../../src/outside.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { World } from '../../src/runtime/world.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { startReceiver } from '../receiver.ts';
import { until } from '../until.ts';

type Headers = Readonly<Record<string, string>>;

export interface EndpointView {
  readonly id: string;
  readonly secret: string;
  readonly status: string;
  readonly [name: string]: unknown;
}

export interface DeliveryView {
  readonly id: string;
  readonly eventType: string;
  readonly status: string;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly request: { readonly url: string; readonly body: unknown };
  readonly lastAttempt: {
    readonly status: number | null;
    readonly answer: string | null;
    readonly problem: string | null;
    readonly latencyMs: number;
  } | null;
}

export type WebhookScene = Awaited<ReturnType<typeof openWebhookScene>>;

/** A gateway on manual time with a receiver. Fan-out and delivery happen on request, step by step. */
export async function openWebhookScene({ log }: { log?: Logger } = {}) {
  const time: ManualTime = manualTime();
  const world = { clock: time.clock };
  const gateway = await startTestGateway({ world, ...(log && { log }) });
  const receiver = await startReceiver();
  let node = newCourier(gateway);
  const lease = await takeFanOut(gateway);

  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, headers: Headers, payload?: object) =>
    gateway.call({ method, url, headers, ...(payload && { payload }) });

  async function fanOut(): Promise<void> {
    await until('all events are placed', async () => {
      const [row] = await gateway.db.sql<{ count: number }[]>`select count(*)::int as count from outbox`;
      return row?.count === 0;
    });
    while (await fanOutOnce(gateway, lease));
    while (await replayOnce(gateway, lease));
  }

  return {
    gateway,
    receiver,
    time,
    call,
    fanOut,
    /** One turn of the requests to redeliver. */
    replay: () => replayOnce(gateway, lease),
    /** Goes on with a courier that knows nothing of the answers so far, as after the start of a node. */
    async restart(): Promise<void> {
      await node.stop();
      node = newCourier(gateway);
    },
    /** Creates deliveries of all events, and attempts everything that is due. */
    async deliver(): Promise<void> {
      await fanOut();
      for (;;) {
        const begun = await node.takeDue();
        await node.idle();
        if (begun === 0) return;
      }
    },
    async subscribe(headers: Headers, path: string, fields: object = {}): Promise<EndpointView> {
      const payload = { url: `${receiver.origin}${path}`, events: ['*'], ...fields };
      const response = await call('POST', '/v1/webhook-endpoints', headers, payload);
      assert.equal(response.statusCode, 201, response.body);
      return response.json().webhookEndpoint;
    },
    async deliveries(headers: Headers, id: string, query = ''): Promise<DeliveryView[]> {
      const response = await call('GET', `/v1/webhook-endpoints/${id}/deliveries${query}`, headers);
      assert.equal(response.statusCode, 200, response.body);
      return response.json().deliveries;
    },
    async close() {
      await receiver.stop();
      await gateway.stop();
    },
  };
}

export interface CourierOptions {
  readonly world?: Partial<World>;
  readonly exchange?: Exchange;
}

/** The courier of a node. */
export function newCourier(gateway: TestGateway, { world, exchange }: CourierOptions = {}) {
  const receivers = openReceivers({ config: gateway.config, world: systemWorld });
  return createCourier({
    ...gateway,
    world: { ...gateway.world, ...world },
    readBodies: createBodyReader(gateway),
    exchangeFor: exchange === undefined ? receivers : () => exchange,
    meters: { attempt: () => {}, inFlight: () => {} },
    onFree: () => {},
  });
}

/** The lease of the fan-out, whoever has it. */
export async function takeFanOut(gateway: TestGateway) {
  const lease = await command(gateway, (tx, now) => {
    // An end in the past, so that the next one can take it over.
    const until = new Date(now.getTime() - 1);
    return takeLease(tx, { name: FAN_OUT_LEASE, holder: 'test', now, until });
  });
  assert.ok(lease);
  return lease;
}
