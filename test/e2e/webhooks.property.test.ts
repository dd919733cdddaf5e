import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { fanOutOnce } from '../../src/actions/webhooks/fan-out.ts';
import type { OutgoingRequest } from '../../src/guarded-http/exchange.ts';
import type { CrashPoint } from '../../src/runtime/crash-points.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { IS_LONG } from '../long.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { until } from '../until.ts';
import { openShop } from './shop.ts';
import { newCourier, takeFanOut } from './webhook-scene.ts';

const RUNS = IS_LONG ? 200 : 8;
const ENDPOINTS = [
  { path: '/all', events: ['*'], wants: () => true },
  { path: '/payments', events: ['payment.*'], wants: (type: string) => type.startsWith('payment.') },
  { path: '/cancelled', events: ['payment.cancelled'], wants: (type: string) => type === 'payment.cancelled' },
] as const;

/** A step of the run. Faults of a step happen in its middle. */
type Step =
  | { readonly does: 'write'; readonly count: number }
  | { readonly does: 'fan out'; readonly crash: boolean }
  /** Another node takes the lease while the former holder goes on. */
  | { readonly does: 'take over' }
  | { readonly does: 'deliver'; readonly crash: CrashPoint | null; readonly failing: readonly boolean[] }
  | { readonly does: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('write' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ does: fc.constant('fan out' as const), crash: fc.boolean() }),
  fc.record({ does: fc.constant('take over' as const) }),
  fc.record({
    does: fc.constant('deliver' as const),
    crash: fc.constantFrom<CrashPoint | null>(null, 'hooks.claimed', 'hooks.answered'),
    failing: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
  }),
  fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
);

class Killed extends Error {}

describe('webhooks, whatever crashes between two steps and whoever writes meanwhile', () => {
  let gateway: TestGateway;
  let time: ManualTime;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock } });
  });
  after(() => gateway.stop());

  /** A world in which the node dies at a point. What it has begun goes on, and what follows the point does not. */
  const dyingAt = (point: CrashPoint | null) => ({
    ...gateway.world,
    crashPoint: (reached: CrashPoint) => {
      if (reached === point) throw new Killed(reached);
    },
  });
  const alive = (error: unknown): void => {
    if (!(error instanceof Killed)) throw error;
  };

  async function run(steps: readonly Step[]): Promise<void> {
    const shop = await openShop(gateway);
    await until('the merchant is placed', async () => (await waitingBatches()) === 0);
    let lease = await takeFanOut(gateway);
    while (await fanOutOnce(gateway, lease));
    const endpoints = new Map<string, string>();
    for (const { path, events } of ENDPOINTS) {
      const response = await gateway.call({
        method: 'POST',
        url: '/v1/webhook-endpoints',
        headers: shop.headers,
        payload: { url: `http://127.0.0.1${path}`, events: [...events] },
      });
      endpoints.set(path, response.json().webhookEndpoint.id);
    }
    /** The events that each receiver has accepted. */
    const accepted = new Map<string, Set<string>>(ENDPOINTS.map(({ path }) => [path, new Set()]));
    const receive =
      (failing: readonly boolean[]) =>
      async ({ url, headers }: OutgoingRequest) => {
        const own = accepted.get(new URL(url).pathname);
        const isFailing = failing[(own?.size ?? 0) % failing.length] ?? false;
        if (!isFailing) own?.add(headers['webhook-id'] ?? '');
        return { status: isFailing ? 500 : 200, headers: {}, bytes: Buffer.alloc(0), isWhole: true };
      };
    const writing: Promise<unknown>[] = [];
    const deliver = async (crash: CrashPoint | null, failing: readonly boolean[]) => {
      const courier = newCourier(gateway, { world: dyingAt(crash), exchange: receive(failing) });
      await courier.takeDue().catch(alive);
      await courier.idle();
    };

    for (const each of steps) {
      if (each.does === 'write') {
        // Not awaited: writers go on beside all other steps.
        for (let count = 0; count < each.count; count += 1) {
          writing.push(shop.created().then(({ paymentId }) => shop.cancel(paymentId)));
        }
      } else if (each.does === 'fan out') {
        const world = dyingAt(each.crash ? 'hooks.fanned' : null);
        await fanOutOnce({ ...gateway, world }, lease).catch(alive);
      } else if (each.does === 'take over') {
        const former = lease;
        lease = await takeFanOut(gateway);
        await Promise.all([fanOutOnce(gateway, former), fanOutOnce(gateway, lease)]);
      } else if (each.does === 'deliver') await deliver(each.crash, each.failing);
      else await time.advance(each.ms);
    }

    await Promise.all(writing);
    await until('all events are placed', async () => (await waitingBatches()) === 0);
    while (await fanOutOnce(gateway, lease));
    const open = async () => (await rows(endpoints)).filter(({ status }) => status === 'pending').length;
    for (let round = 0; (await open()) > 0; round += 1) {
      assert.ok(round < 200, 'everything is delivered at last');
      await time.advance(3_600_000);
      await deliver(null, [false]);
    }

    const events = await eventsOf(shop.headers);
    for (const { path, wants } of ENDPOINTS) {
      const id = endpoints.get(path);
      const wanted = events.filter(({ type }) => wants(type)).map((event) => event.id);
      const own = (await rows(endpoints)).filter(({ endpointId }) => endpointId === id);
      assert.deepEqual(own.map(({ eventId }) => eventId).toSorted(), wanted.toSorted(), `one delivery each at ${path}`);
      assert.deepEqual([...(accepted.get(path) ?? [])].toSorted(), wanted.toSorted(), `${path} has accepted all`);
    }
  }

  async function waitingBatches(): Promise<number> {
    const [row] = await gateway.db.sql<{ count: number }[]>`select count(*)::int as count from outbox`;
    return row?.count ?? 0;
  }
  const rows = (endpoints: ReadonlyMap<string, string>) =>
    gateway.db.sql<{ endpointId: string; eventId: string; status: string }[]>`
      select endpoint_id as "endpointId", event_id as "eventId", status from webhook_deliveries
      where endpoint_id = any(${[...endpoints.values()]})`;
  /** All events of the shop but that of its merchant, which is older than the endpoints. */
  async function eventsOf(headers: Record<string, string>): Promise<{ id: string; type: string }[]> {
    const found: { id: string; type: string }[] = [];
    for (let cursor = ''; ; ) {
      const url = `/v1/events?limit=100${cursor}`;
      const page = (await gateway.call({ method: 'GET', url, headers })).json();
      found.push(...page.events.filter(({ type }: { type: string }) => type !== 'merchant.created'));
      if (page.events.length === 0) return found;
      cursor = `&after=${page.nextCursor}`;
    }
  }

  it('reach every subscribed endpoint, with one row for each endpoint and event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => run(steps)),
      { numRuns: RUNS },
    );
  });
});
