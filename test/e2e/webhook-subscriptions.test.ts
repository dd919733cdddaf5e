import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { pruneDeliveries } from '../../src/actions/webhooks/prune-deliveries.ts';
import { createTestKey, createTestMerchant, freshKey } from '../gateway.ts';
import type { ReceivedRequest } from '../receiver.ts';
import { type Headers, ORDER, openShop } from './shop.ts';
import { openWebhookScene, type WebhookScene } from './webhook-scene.ts';

const HOUR_MS = 3_600_000;

describe('a webhook endpoint', () => {
  let scene: WebhookScene;
  before(async () => {
    scene = await openWebhookScene();
  });
  after(() => scene.close());
  afterEach(() => scene.receiver.answerWith());

  let paths = 0;
  const newPath = () => {
    paths += 1;
    return `/subscribed-${paths}`;
  };
  const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body);
  const pay = async (headers: Headers, merchantId: string) => {
    const response = await scene.call(
      'POST',
      '/v1/payments',
      { ...headers, 'merchant-id': merchantId, 'idempotency-key': freshKey() },
      ORDER,
    );
    assert.equal(response.statusCode, 201, response.body);
    return response.json().paymentId as string;
  };
  const change = async (headers: Headers, id: string, payload: object) => {
    const response = await scene.call('PATCH', `/v1/webhook-endpoints/${id}`, headers, payload);
    assert.equal(response.statusCode, 200, response.body);
  };
  /** A partner with merchants A and B, an endpoint for both, and a key for A alone. */
  async function openPair(fields: object = {}) {
    const shop = await openShop(scene.gateway);
    const other = await createTestMerchant(scene.gateway, shop.headers);
    const issued = await createTestKey(scene.gateway, shop.partner.id, { key: { merchantIds: [shop.merchant.id] } });
    const path = newPath();
    const endpoint = await scene.subscribe(shop.headers, path, { events: ['payment.*'], ...fields });
    return {
      shop,
      a: shop.merchant.id,
      b: other.id,
      keyOfA: { 'api-key': issued.secret },
      path,
      endpoint,
      got: () => scene.receiver.at(path).map(bodyOf),
    };
  }

  it('that is narrowed to one merchant neither gets, lists nor repeats events of another', async () => {
    const { shop, a, b, keyOfA, endpoint, got } = await openPair();
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end());
    await pay(shop.headers, a);
    await pay(shop.headers, b);
    await scene.deliver();
    const ofB = got().find(({ merchantId }) => merchantId === b);
    assert.ok(ofB);
    await change(shop.headers, endpoint.id, { merchantIds: [a] });
    scene.receiver.answerWith();
    const before = got().length;
    await scene.time.advance(HOUR_MS);
    await scene.deliver();
    assert.deepEqual(
      got()
        .slice(before)
        .map(({ merchantId }) => merchantId),
      [a],
      'the pending delivery of the other merchant is not sent',
    );
    const listed = await scene.deliveries(keyOfA, endpoint.id);
    assert.deepEqual(
      listed.map(({ request }) => (request.body as { merchantId: string }).merchantId),
      [a],
    );
    const again = `/v1/webhook-endpoints/${endpoint.id}/deliveries/${ofB.id}/redeliver`;
    assert.equal((await scene.call('POST', again, keyOfA)).statusCode, 404);
    const ofPayment = await scene.call('GET', `/v1/payments/${ofB.data.id}/webhook-deliveries`, {
      ...shop.headers,
      'merchant-id': b,
    });
    assert.deepEqual(ofPayment.json().deliveries, []);
    await scene.deliver();
    assert.equal(got().length, before + 1);
  });

  it('that is narrowed to other types gets no event of the older ones, and goes on with the newer', async () => {
    const { shop, a, endpoint, got } = await openPair();
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end());
    for (let count = 0; count < 3; count += 1) await pay(shop.headers, a);
    await scene.deliver();
    const before = got().length;
    await change(shop.headers, endpoint.id, { events: ['refund.*'] });
    scene.receiver.answerWith();
    await scene.time.advance(HOUR_MS);
    await scene.deliver();
    assert.equal(got().length, before);
    assert.deepEqual(await scene.deliveries(shop.headers, endpoint.id), []);
    await change(shop.headers, endpoint.id, { events: ['payment.cancelled'] });
    const paymentId = await pay(shop.headers, a);
    await shop.cancel(paymentId);
    await scene.deliver();
    assert.deepEqual(
      got()
        .slice(before)
        .map(({ type }) => type),
      ['payment.cancelled'],
    );
    while (await pruneDeliveries(scene.gateway, { keptDays: 30 }));
    const rows = await scene.gateway.db.sql`
      select from webhook_deliveries where endpoint_id = ${endpoint.id} and status = 'pending'`;
    assert.equal(rows.length, 0, 'deliveries that no subscription asks for are removed');
  });

  it('that is narrowed lists further pages, also when whole pages are of other merchants', async () => {
    const { shop, a, b, keyOfA, endpoint } = await openPair();
    await pay(shop.headers, a);
    for (let count = 0; count < 4; count += 1) {
      await scene.time.advance(10);
      await pay(shop.headers, b);
    }
    await scene.deliver();
    await change(shop.headers, endpoint.id, { merchantIds: [a] });
    assert.equal((await scene.deliveries(keyOfA, endpoint.id, '?limit=1')).length, 1);
  });

  it('gets everything again that it missed: a delivery between two attempts is renewed by a replay', async () => {
    const { shop, a, endpoint, got } = await openPair();
    const since = new Date(scene.time.clock.nowMs()).toISOString();
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end());
    const missed = await pay(shop.headers, a);
    await scene.deliver();
    await scene.time.advance(HOUR_MS);
    await scene.deliver();
    scene.receiver.answerWith();
    const arrived = await pay(shop.headers, a);
    await scene.fanOut();
    // The endpoint was paused by its failures on this node. A node that starts knows nothing of them.
    await scene.restart();
    await scene.deliver();
    const before = got().length;
    assert.equal(got().at(-1).data.id, arrived);
    const ordered = await scene.call('POST', `/v1/webhook-endpoints/${endpoint.id}/redeliver`, shop.headers, { since });
    assert.equal(ordered.statusCode, 202);
    await scene.deliver();
    assert.deepEqual(
      got()
        .slice(before)
        .map(({ data }) => data.id)
        .toSorted(),
      [missed, arrived].toSorted(),
    );
  });

  it('waits for the replay of no other partner, however often that one orders replays', async () => {
    const [first, second] = [await openPair(), await openPair()];
    await pay(first.shop.headers, first.a);
    await pay(second.shop.headers, second.a);
    await scene.deliver();
    const since = new Date(scene.time.clock.nowMs() - HOUR_MS).toISOString();
    const order = async ({ shop, endpoint }: typeof first) => {
      const url = `/v1/webhook-endpoints/${endpoint.id}/redeliver`;
      assert.equal((await scene.call('POST', url, shop.headers, { since })).statusCode, 202);
    };
    const extra = await scene.subscribe(first.shop.headers, newPath(), { events: ['payment.*'] });
    await order(second);
    for (let turn = 0; turn < 4; turn += 1) {
      await scene.time.advance(10);
      await order(first);
      await order({ ...first, endpoint: extra });
      await scene.replay();
    }
    const [row] = await scene.gateway.db.sql<{ isUnderWay: boolean }[]>`
      select replay_after is not null as "isUnderWay" from webhook_endpoints where id = ${second.endpoint.id}`;
    assert.equal(row?.isUnderWay, false);
    await scene.deliver();
    assert.equal(second.got().length, 2);
  });

  it('waits for the replays of no other merchant of its partner, however many endpoints that one has', async () => {
    const { shop, a, b } = await openPair();
    await pay(shop.headers, a);
    await pay(shop.headers, b);
    const since = new Date(scene.time.clock.nowMs() - HOUR_MS).toISOString();
    const subscribe = async (merchantId: string) => {
      await scene.time.advance(10);
      return scene.subscribe(shop.headers, newPath(), { events: ['payment.*'], merchantIds: [merchantId] });
    };
    const order = async ({ id }: { readonly id: string }) => {
      const url = `/v1/webhook-endpoints/${id}/redeliver`;
      assert.equal((await scene.call('POST', url, shop.headers, { since })).statusCode, 202);
    };
    const busy = [await subscribe(a), await subscribe(a), await subscribe(a), await subscribe(a)];
    const other = await subscribe(b);
    await scene.deliver();
    await order(other);
    // A replay takes two turns: one for its events, and one that finds no more.
    for (let turn = 0; turn < 4; turn += 1) {
      await scene.time.advance(10);
      for (const endpoint of busy) await order(endpoint);
      await scene.replay();
    }
    const [row] = await scene.gateway.db.sql<{ isUnderWay: boolean }[]>`
      select replay_after is not null as "isUnderWay" from webhook_endpoints where id = ${other.id}`;
    assert.equal(row?.isUnderWay, false);
    await scene.deliver();
  });

  it('for one merchant that is disabled is an event of this merchant: in its feed, and at its other endpoint', async () => {
    const { keyOfA, a, b, shop } = await openPair();
    const [gone, watched, ofOther] = [newPath(), newPath(), newPath()];
    const endpoint = await scene.subscribe(keyOfA, gone, { events: ['payment.created'] });
    await scene.subscribe(keyOfA, watched, { events: ['webhook_endpoint.*'] });
    await scene.subscribe(shop.headers, ofOther, { events: ['webhook_endpoint.*'], merchantIds: [b] });
    scene.receiver.answerWith((request, response) => response.writeHead(request.path === gone ? 410 : 200).end());
    await pay(shop.headers, a);
    await scene.deliver();
    await scene.deliver();
    const [event] = scene.receiver.at(watched).map(bodyOf);
    assert.deepEqual([event?.type, event?.merchantId, event?.data.id], ['webhook_endpoint.disabled', a, endpoint.id]);
    assert.deepEqual(scene.receiver.at(ofOther), []);
    const feed = await scene.call('GET', '/v1/events?types=webhook_endpoint.*', keyOfA);
    assert.deepEqual(
      feed.json().events.map(({ id }: { id: string }) => id),
      [event.id],
    );
    assert.equal((await scene.call('GET', `/v1/events/${event.id}`, keyOfA)).statusCode, 200);
    const attention = async () => (await scene.call('GET', '/v1/statistics/attention', keyOfA)).json().failingEndpoints;
    assert.equal(await attention(), 1, 'an endpoint that was disabled for its failures needs somebody');
    await change(keyOfA, endpoint.id, { status: 'active' });
    await change(keyOfA, endpoint.id, { status: 'disabled' });
    assert.equal(await attention(), 0);
  });

  it('for several merchants that is disabled is shown to keys for all of them, and to no others', async () => {
    const { shop, a, b, keyOfA } = await openPair();
    const gone = newPath();
    const both = await createTestKey(scene.gateway, shop.partner.id, { key: { merchantIds: [a, b] } });
    await scene.subscribe(shop.headers, gone, { events: ['payment.created'], merchantIds: [a, b] });
    scene.receiver.answerWith((request, response) => response.writeHead(request.path === gone ? 410 : 200).end());
    await pay(shop.headers, a);
    await scene.deliver();
    await scene.fanOut();
    const seen = async (headers: Headers) =>
      (await scene.call('GET', '/v1/events?types=webhook_endpoint.*', headers)).json().events.length;
    assert.deepEqual([await seen({ 'api-key': both.secret }), await seen(keyOfA)], [1, 0]);
  });
});
