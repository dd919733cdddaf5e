import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { command } from '../../src/actions/command.ts';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import { within } from '../../src/actions/renew-macs.ts';
import { pruneDeliveries } from '../../src/actions/webhooks/prune-deliveries.ts';
import { rewrapEndpointSecrets } from '../../src/actions/webhooks/rewrap-secrets.ts';
import { openReceivers } from '../../src/outside.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { listAudit } from '../../src/store/plumbing/audit-log.ts';
import { startDelivering } from '../../src/workers/delivering.ts';
import { createTestKey, createTestMerchant, startTestGateway, TEST_SECRET, type TestGateway } from '../gateway.ts';
import { type ReceivedRequest, startReceiver } from '../receiver.ts';
import { until } from '../until.ts';
import { openShop, type Shop } from './shop.ts';
import { type EndpointView, newCourier, openWebhookScene, type WebhookScene } from './webhook-scene.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('webhooks', () => {
  let scene: WebhookScene;
  let logged = '';
  const secretsSeen: string[] = [];
  before(async () => {
    const write = (text: string) => {
      logged += text;
    };
    const log = pino({ level: 'debug' }, { write });
    scene = await openWebhookScene({ log });
  });
  after(() => scene.close());
  afterEach(() => scene.receiver.answerWith());

  let paths = 0;
  const newPath = () => {
    paths += 1;
    return `/hook-${paths}`;
  };
  /** A shop with one endpoint. */
  async function openHooked(fields: object = {}) {
    const shop = await openShop(scene.gateway);
    const path = newPath();
    const endpoint = await scene.subscribe(shop.headers, path, fields);
    secretsSeen.push(endpoint.secret);
    return { shop, path, endpoint, received: () => scene.receiver.at(path) };
  }
  const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body);
  /** Sorted, because the order of arrival is not promised. */
  const typesOf = (requests: readonly ReceivedRequest[]) => requests.map((request) => bodyOf(request).type).toSorted();
  const change = async (shop: Shop, id: string, payload: object) => {
    const response = await scene.call('PATCH', `/v1/webhook-endpoints/${id}`, shop.headers, payload);
    assert.equal(response.statusCode, 200, response.body);
    return response.json().webhookEndpoint as EndpointView;
  };
  const statusOf = async (shop: Shop, id: string) =>
    (await scene.call('GET', `/v1/webhook-endpoints/${id}`, shop.headers)).json().webhookEndpoint.status;
  const refusal = async (shop: Shop, payload: object) => {
    const response = await scene.call('POST', '/v1/webhook-endpoints', shop.headers, payload);
    assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation'], response.body);
    return (response.json().issues as { field: string; message: string }[])
      .map(({ field, message }) => `${field} ${message}`)
      .join('; ');
  };
  /** Headers as the reference verifiers take them. */
  const signed = ({ headers }: ReceivedRequest) => ({
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
  /** The verifiers go by the machine's clock, so messages are signed anew for the present. */
  const inPresent = async <T>(work: () => Promise<T>): Promise<T> => {
    await scene.time.advance(Date.now() - scene.time.clock.nowMs());
    return work();
  };

  it('are created with a secret that is shown once, and stored only wrapped', async () => {
    const { shop, endpoint } = await openHooked({ events: ['payment.*', 'refund.succeeded'], description: 'Mine' });
    const { secret, ...rest } = endpoint;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(Object.keys(rest), [
      'id',
      'url',
      'events',
      'merchantIds',
      'description',
      'status',
      'apiVersion',
      'createdAt',
    ]);
    assert.match(endpoint.id, /^whe_[0-9A-Z]{26}$/);
    const got = await scene.call('GET', `/v1/webhook-endpoints/${endpoint.id}`, shop.headers);
    assert.deepEqual(got.json(), { webhookEndpoint: rest });
    const listed = await scene.call('GET', '/v1/webhook-endpoints', shop.headers);
    assert.deepEqual(listed.json(), { webhookEndpoints: [rest] });
    const [row] = await scene.gateway.db.sql<{ text: string }[]>`
      select to_jsonb(w)::text as text from webhook_endpoints w where id = ${endpoint.id}`;
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      assert.ok(!row?.text.includes(bytes.toString(encoding)), encoding);
    }
  });

  it('carry the event as its own route answers, and are verified by the reference libraries', async () => {
    await inPresent(async () => {
      const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
      const { paymentId } = await shop.created({ description: 'Tea for two — ünïcode' });
      await scene.deliver();
      const [request] = received();
      assert.ok(request);
      const event = bodyOf(request);
      assert.equal(event.data.id, paymentId);
      const answered = await scene.call('GET', `/v1/events/${event.id}`, shop.headers);
      assert.deepEqual(event, answered.json());
      assert.equal(request.headers['webhook-id'], event.id);
      assert.equal(request.headers['content-type'], 'application/json');
      const verifiers = [new StandardWebhook(endpoint.secret), new SvixWebhook(endpoint.secret)];
      for (const verifier of verifiers) {
        assert.deepEqual(verifier.verify(request.body, signed(request)), event);
        const altered = request.body.replace('Tea for two', 'Tea for ten');
        assert.throws(() => verifier.verify(altered, signed(request)));
        assert.throws(() => verifier.verify(request.body, { ...signed(request), 'webhook-id': 'evt_other' }));
        assert.throws(() => verifier.verify(request.body, { ...signed(request), 'webhook-timestamp': '1700000000' }));
      }
      const other = await openHooked();
      assert.throws(() => new StandardWebhook(other.endpoint.secret).verify(request.body, signed(request)));
    });
  });

  it('are signed by both secrets while one is rotated, and by the new one afterwards', async () => {
    await inPresent(async () => {
      const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
      const url = `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`;
      const rotated = await scene.call('POST', url, shop.headers);
      assert.equal(rotated.statusCode, 200, rotated.body);
      const { secret } = rotated.json().webhookEndpoint;
      secretsSeen.push(secret);
      await shop.created();
      await scene.deliver();
      const both = received()[0];
      assert.ok(both);
      for (const known of [endpoint.secret, secret]) {
        new StandardWebhook(known).verify(both.body, signed(both));
        new SvixWebhook(known).verify(both.body, signed(both));
      }
      const third = (await scene.call('POST', url, shop.headers, { overlapSeconds: 0 })).json().webhookEndpoint.secret;
      secretsSeen.push(third);
      await shop.created();
      await scene.deliver();
      const last = received()[1];
      assert.ok(last);
      new StandardWebhook(third).verify(last.body, signed(last));
      for (const ended of [endpoint.secret, secret]) {
        assert.throws(() => new StandardWebhook(ended).verify(last.body, signed(last)));
      }
    });
  });

  it('end the overlap of a rotation after a day, and refuse a sixth secret at once', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    const url = `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`;
    await scene.call('POST', url, shop.headers, {});
    const count = async () => {
      await shop.created();
      await scene.deliver();
      return signed(received().at(-1) as ReceivedRequest)['webhook-signature'].split(' ').length;
    };
    assert.equal(await count(), 2);
    await scene.time.advance(DAY_MS - SECOND_MS);
    assert.equal(await count(), 2);
    await scene.time.advance(2 * SECOND_MS);
    assert.equal(await count(), 1);
    for (let extra = 0; extra < 4; extra += 1) {
      assert.equal((await scene.call('POST', url, shop.headers)).statusCode, 200);
    }
    assert.equal((await scene.call('POST', url, shop.headers)).statusCode, 409);
    assert.equal((await scene.call('POST', url, shop.headers, { overlapSeconds: 0 })).statusCode, 200);
  });

  it('reach the endpoints whose types and merchants match, of this partner and mode alone', async () => {
    const { shop, received } = await openHooked();
    const second = await createTestMerchant(scene.gateway, shop.headers);
    await scene.fanOut();
    const [cancelled, ofSecond, live] = [newPath(), newPath(), newPath()];
    await scene.subscribe(shop.headers, cancelled, { events: ['payment.cancelled'] });
    await scene.subscribe(shop.headers, ofSecond, { events: ['merchant.*'], merchantIds: [second.id] });
    const liveKey = await createTestKey(scene.gateway, shop.partner.id, { mode: 'live' });
    const liveHeaders = { 'api-key': liveKey.secret };
    const refused = await scene.call('POST', '/v1/webhook-endpoints', liveHeaders, {
      url: `${scene.receiver.origin}${live}`,
      events: ['*'],
    });
    assert.equal(refused.statusCode, 400, 'a live receiver has HTTPS and a public host');
    await scene.call('POST', '/v1/webhook-endpoints', liveHeaders, { url: 'https://shop.example/', events: ['*'] });
    const stranger = await openHooked({ events: ['payment.*'] });
    const { paymentId } = await shop.created();
    await shop.cancel(paymentId);
    const { headers } = shop;
    await scene.call('PATCH', `/v1/merchants/${second.id}`, headers, { merchantName: 'Renamed' });
    await scene.call('PATCH', `/v1/merchants/${shop.merchant.id}`, headers, { merchantName: 'Renamed' });
    await scene.deliver();
    assert.deepEqual(typesOf(received()), [
      'merchant.created',
      'merchant.created',
      'merchant.updated',
      'merchant.updated',
      'payment.cancelled',
      'payment.created',
    ]);
    assert.deepEqual(typesOf(scene.receiver.at(cancelled)), ['payment.cancelled']);
    assert.deepEqual(typesOf(scene.receiver.at(ofSecond)), ['merchant.updated']);
    assert.deepEqual(stranger.received(), []);
    const [row] = await scene.gateway.db.sql<{ count: number }[]>`
      select count(*)::int as count from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
      where w.mode = 'live'`;
    assert.equal(row?.count, 0);
  });

  it('are attempted again by the schedule, with the answers on record', async () => {
    const { shop, endpoint, path, received } = await openHooked({ events: ['payment.created'] });
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end(`broken\0 ${'x'.repeat(10_000)}`));
    await shop.created();
    await scene.deliver();
    const [failed] = await scene.deliveries(shop.headers, endpoint.id);
    assert.ok(failed?.lastAttempt && failed.nextAttemptAt);
    assert.deepEqual([failed.status, failed.attempts, failed.lastAttempt.status], ['pending', 1, 500]);
    assert.equal(failed.lastAttempt.problem, 'The receiver answered 500.');
    assert.match(failed.lastAttempt.answer ?? '', /^broken\u{fffd} x+$/u);
    assert.equal(Buffer.byteLength(failed.lastAttempt.answer?.replace('\u{fffd}', '\0') ?? ''), 4_096);
    assert.equal(failed.request.url, `${scene.receiver.origin}${path}`);
    assert.deepEqual(failed.request.body, bodyOf(received()[0] as ReceivedRequest));
    const waitMs = Date.parse(failed.nextAttemptAt) - scene.time.clock.nowMs();
    assert.ok(waitMs >= 4_000 && waitMs <= 6_000, String(waitMs));
    await scene.deliver();
    assert.equal(received().length, 1);
    scene.receiver.answerWith();
    await scene.time.advance(6 * SECOND_MS);
    await scene.deliver();
    assert.equal(received().length, 2);
    assert.deepEqual(new Set(received().map(({ headers }) => headers['webhook-id'])).size, 1);
    const [done] = await scene.deliveries(shop.headers, endpoint.id, '?status=succeeded');
    assert.deepEqual(
      [done?.status, done?.attempts, done?.nextAttemptAt, done?.lastAttempt?.answer],
      ['succeeded', 2, null, 'ok'],
    );
  });

  it('wait as long as Retry-After asks for', async () => {
    const { shop, endpoint } = await openHooked({ events: ['payment.created'] });
    scene.receiver.answerWith((_request, response) => response.writeHead(429, { 'retry-after': '120' }).end());
    await shop.created();
    await scene.deliver();
    const [delivery] = await scene.deliveries(shop.headers, endpoint.id);
    assert.equal(Date.parse(delivery?.nextAttemptAt ?? '') - scene.time.clock.nowMs(), 120_000);
  });

  it('do not follow redirects', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    const elsewhere = newPath();
    scene.receiver.answerWith((_request, response) => response.writeHead(308, { location: elsewhere }).end());
    await shop.created();
    await scene.deliver();
    assert.equal(received().length, 1);
    assert.deepEqual(scene.receiver.at(elsewhere), []);
    const [delivery] = await scene.deliveries(shop.headers, endpoint.id);
    assert.match(delivery?.lastAttempt?.problem ?? '', /308. Redirects are not followed/);
  });

  it('end at a receiver that answers 410: the endpoint is disabled, and other endpoints are notified', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    const path = newPath();
    await scene.subscribe(shop.headers, path, { events: ['webhook_endpoint.*'] });
    scene.receiver.answerWith((request, response) => response.writeHead(request.path === path ? 200 : 410).end());
    await shop.created();
    await shop.created();
    await scene.deliver();
    assert.equal(await statusOf(shop, endpoint.id), 'disabled');
    const count = received().length;
    await shop.created();
    await scene.time.advance(DAY_MS);
    await scene.deliver();
    assert.equal(received().length, count, 'nothing is sent any more');
    const [disabledEvent] = scene.receiver.at(path).map(bodyOf);
    assert.equal(disabledEvent.type, 'webhook_endpoint.disabled');
    assert.deepEqual(
      disabledEvent.data,
      (await scene.call('GET', `/v1/webhook-endpoints/${endpoint.id}`, shop.headers)).json().webhookEndpoint,
    );
    assert.deepEqual(
      await scene.call('GET', `/v1/events/${disabledEvent.id}`, shop.headers).then((answer) => answer.json()),
      disabledEvent,
    );
  });

  it('end at an endpoint that only failed for three days, with an event and an alert, and go on when it is enabled', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    const alerts = async () =>
      (await listAlerts(scene.gateway.db.sql)).filter(({ subject }) => subject === endpoint.id).map(({ name }) => name);
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end());
    await shop.created();
    await scene.deliver();
    for (let hours = 0; hours < 70; hours += 1) {
      await scene.time.advance(HOUR_MS);
      await scene.deliver();
    }
    assert.equal(await statusOf(shop, endpoint.id), 'active');
    assert.deepEqual(await alerts(), []);
    await scene.time.advance(3 * HOUR_MS);
    await shop.created();
    await scene.deliver();
    assert.equal(await statusOf(shop, endpoint.id), 'disabled');
    assert.deepEqual(await alerts(), ['webhook_endpoint_disabled']);
    assert.ok(received().length <= 20, `${received().length} attempts`);
    assert.deepEqual(
      (await scene.deliveries(shop.headers, endpoint.id)).map(({ status }) => status),
      ['pending', 'failed'],
    );

    await shop.created();
    scene.receiver.answerWith();
    await scene.deliver();
    const before = received().length;
    assert.equal((await change(shop, endpoint.id, { status: 'active' })).status, 'active');
    assert.deepEqual(await alerts(), []);
    await scene.time.advance(HOUR_MS);
    await scene.deliver();
    assert.equal(received().length, before + 1, 'the pending delivery goes on; events meanwhile have none');
  });

  it('test an endpoint by an event that only this endpoint gets', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['refund.failed'], merchantIds: null });
    const path = newPath();
    await scene.subscribe(shop.headers, path, { events: ['*'] });
    const answer = await scene.call('POST', `/v1/webhook-endpoints/${endpoint.id}/test`, shop.headers);
    assert.equal(answer.statusCode, 202, answer.body);
    await scene.deliver();
    const [event] = received().map(bodyOf);
    assert.deepEqual(
      [event.id, event.type, event.data.id],
      [answer.json().eventId, 'webhook_endpoint.test', endpoint.id],
    );
    assert.ok(!('secret' in event.data));
    assert.ok(!typesOf(scene.receiver.at(path)).includes('webhook_endpoint.test'));
  });

  it('are redelivered one by one, and all since a time, also those from while the endpoint was disabled', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    await shop.created();
    await scene.deliver();
    await scene.time.advance(HOUR_MS);
    const since = new Date(scene.time.clock.nowMs()).toISOString();
    await shop.created();
    await scene.deliver();
    await change(shop, endpoint.id, { status: 'disabled' });
    await shop.created();
    await scene.deliver();
    const url = `/v1/webhook-endpoints/${endpoint.id}`;
    assert.equal((await scene.call('POST', `${url}/redeliver`, shop.headers, { since })).statusCode, 409);
    await change(shop, endpoint.id, { status: 'active' });
    assert.equal(received().length, 2);

    const ordered = await scene.call('POST', `${url}/redeliver`, shop.headers, { since });
    assert.deepEqual([ordered.statusCode, ordered.json()], [202, { since }]);
    await scene.deliver();
    assert.equal(received().length, 4);
    const [first, second, again, missed] = received().map((request) => bodyOf(request).id);
    assert.equal(again === second || missed === second, true);
    const one = await scene.call('POST', `${url}/deliveries/${first}/redeliver`, shop.headers);
    assert.equal(one.statusCode, 202, one.body);
    assert.equal(one.json().delivery.status, 'pending');
    await scene.deliver();
    assert.deepEqual(
      received()
        .map((request) => bodyOf(request).id)
        .slice(4),
      [first],
    );
    for (const unknown of ['evt_unknown', encodeURIComponent('x\0y'), 'evt_01K00000000000000000000000']) {
      const answer = await scene.call('POST', `${url}/deliveries/${unknown}/redeliver`, shop.headers);
      assert.equal(answer.statusCode, 404, answer.body);
    }
    for (const wrong of ['yesterday', '2999-01-01T00:00:00Z', '']) {
      assert.equal((await scene.call('POST', `${url}/redeliver`, shop.headers, { since: wrong })).statusCode, 400);
    }
  });

  it('list deliveries page by page, with cursors that fit no other list', async () => {
    const { shop, endpoint } = await openHooked({ events: ['payment.created'] });
    for (let count = 0; count < 5; count += 1) {
      await scene.time.advance(10);
      await shop.created();
    }
    await scene.deliver();
    const url = `/v1/webhook-endpoints/${endpoint.id}/deliveries`;
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = (await scene.call('GET', `${url}?limit=2${query}`, shop.headers)).json();
      ids.push(...page.deliveries.map(({ id }: { id: string }) => id));
      cursor = page.nextCursor;
    }
    assert.deepEqual(ids, ids.toSorted().reverse());
    assert.equal(new Set(ids).size, 5);
    const { nextCursor } = (await scene.call('GET', `${url}?limit=2`, shop.headers)).json();
    const other = await openHooked();
    for (const [foreign, headers] of [
      [`${url}?status=failed&cursor=${nextCursor}`, shop.headers],
      [`/v1/webhook-endpoints/${other.endpoint.id}/deliveries?cursor=${nextCursor}`, other.shop.headers],
      [`${url}?cursor=x`, shop.headers],
    ] as const) {
      assert.equal((await scene.call('GET', foreign, headers)).statusCode, 400, foreign);
    }
  });

  it('have at most 20 endpoints of a partner and mode, however many requests race', async () => {
    const shop = await openShop(scene.gateway);
    const payload = { url: `${scene.receiver.origin}/many`, events: ['payment.*'] };
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => scene.call('POST', '/v1/webhook-endpoints', shop.headers, payload)),
    );
    const codes = answers.map(({ statusCode }) => statusCode);
    assert.equal(codes.filter((code) => code === 201).length, 20);
    assert.equal(codes.filter((code) => code === 409).length, 4);
    const [first] = (await scene.call('GET', '/v1/webhook-endpoints', shop.headers)).json().webhookEndpoints;
    await scene.call('DELETE', `/v1/webhook-endpoints/${first.id}`, shop.headers);
    assert.equal((await scene.call('POST', '/v1/webhook-endpoints', shop.headers, payload)).statusCode, 201);
  });

  it('refuse bad input by name', async () => {
    const { shop, endpoint } = await openHooked();
    const url = 'https://shop.example/hook';
    for (const [payload, expected] of [
      [{ url, events: ['payment.paid'] }, /^events\[0\] must be one of/],
      [{ url, events: ['payout.paid'] }, /^events\[0\] must be one of/],
      [{ url, events: [] }, /^events must not have fewer than 1 items/],
      [{ url }, /^events is required/],
      [{ url, events: ['*'], secret: 'whsec_mine' }, /^secret is not a field of this request/],
      [{ url, event: ['*'] }, /did you mean events/],
      [{ url, events: ['*'], apiVersion: '2020-01-01' }, /^apiVersion must be one of 2026-02-18/],
      [{ url, events: ['*'], merchantIds: ['mrch_unknown'] }, /^merchantIds\[0\] is not a merchant of yours/],
      [{ url: 'https://10.0.0.1/', events: ['*'] }, /^url must have a public host/],
      [{ url: 'https://user:secret@shop.example/', events: ['*'] }, /^url must not contain credentials/],
      [{ url: `https://shop.example/${'a'.repeat(10_240)}`, events: ['*'] }, /^url must not have more than 2048/],
    ] as const) {
      assert.match(await refusal(shop, payload), expected);
    }
    const other = await openShop(scene.gateway);
    assert.match(
      await refusal(shop, { url, events: ['*'], merchantIds: [other.merchant.id] }),
      /is not a merchant of yours/,
    );
    for (const payload of [
      {},
      { secret: 'x' },
      { status: 'deleted' },
      { url: 'ftp://shop.example' },
      { events: null },
    ]) {
      const answer = await scene.call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, shop.headers, payload);
      assert.equal(answer.statusCode, 400, answer.body);
    }
    for (const id of ['whe_unknown', encodeURIComponent('\0'), '%20']) {
      assert.equal((await scene.call('GET', `/v1/webhook-endpoints/${id}`, shop.headers)).statusCode, 404, id);
    }
  });

  it('stop when the endpoint is deleted, which is final and can be repeated', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    scene.receiver.answerWith((_request, response) => response.writeHead(500).end());
    await shop.created();
    await scene.deliver();
    const url = `/v1/webhook-endpoints/${endpoint.id}`;
    for (let count = 0; count < 2; count += 1) {
      const answer = await scene.call('DELETE', url, shop.headers);
      assert.deepEqual([answer.statusCode, answer.json()], [200, { id: endpoint.id, deleted: true }]);
    }
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
      ['GET', '/deliveries'],
    ] as const) {
      const payload = method === 'PATCH' ? { status: 'active' } : undefined;
      assert.equal((await scene.call(method, `${url}${path}`, shop.headers, payload)).statusCode, 404, path);
    }
    await scene.time.advance(HOUR_MS);
    await shop.created();
    await scene.deliver();
    assert.equal(received().length, 1);
    while (await pruneDeliveries(scene.gateway, { keptDays: 30 }));
    const rows = await scene.gateway.db.sql`select from webhook_deliveries where endpoint_id = ${endpoint.id}`;
    assert.equal(rows.length, 0, 'its pending deliveries are removed');
  });

  it('are pruned after their time, and events are not', async () => {
    const { shop, endpoint } = await openHooked({ events: ['payment.created'] });
    await shop.created();
    await scene.deliver();
    const [delivery] = await scene.deliveries(shop.headers, endpoint.id);
    await scene.time.advance(29 * DAY_MS);
    await pruneDeliveries(scene.gateway, { keptDays: 30 });
    assert.equal((await scene.deliveries(shop.headers, endpoint.id)).length, 1);
    await scene.time.advance(2 * DAY_MS);
    await pruneDeliveries(scene.gateway, { keptDays: 30 });
    assert.equal((await scene.deliveries(shop.headers, endpoint.id)).length, 0);
    assert.equal((await scene.call('GET', `/v1/events/${delivery?.id}`, shop.headers)).statusCode, 200);
  });

  it('reach receivers beside slow and dead ones, which hold their own places only', async () => {
    const slow = await openHooked({ events: ['payment.created'] });
    const dead = await openHooked({ events: ['payment.created'], url: 'http://127.0.0.1:1/' });
    const quick = await openHooked({ events: ['payment.created'] });
    const held: (() => void)[] = [];
    scene.receiver.answerWith((request, response) => {
      if (request.path === slow.path) held.push(() => response.end());
      else response.end();
    });
    for (let count = 0; count < 12; count += 1) {
      await slow.shop.created();
      await dead.shop.created();
    }
    await quick.shop.created();
    await scene.fanOut();
    const courier = newCourier(scene.gateway);
    await courier.takeDue();
    await until('the quick receiver has its event', () => quick.received().length === 1);
    await until('the slow receiver has as many as its window', () => held.length === 8);
    await courier.takeDue();
    assert.equal(held.length, 8, 'no more than its window are in flight');
    await until('the slow receiver has all', async () => {
      for (const release of held.splice(0)) release();
      await courier.takeDue();
      return slow.received().length === 12;
    });
    for (const release of held.splice(0)) release();
    await courier.idle();
    const failed = await scene.deliveries(dead.shop.headers, dead.endpoint.id, '?limit=50');
    assert.ok(failed.some(({ lastAttempt }) => /refused the connection/.test(lastAttempt?.problem ?? '')));
  });

  it('are attempted again by another node when a node dies over them, and its late result is refused', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    await shop.created();
    await scene.fanOut();
    let answerLate = () => {};
    const late = new Promise<void>((resolve) => {
      answerLate = resolve;
    });
    const dying = newCourier(scene.gateway, {
      exchange: async () => {
        await late;
        return { status: 500, headers: {}, bytes: Buffer.from('late'), isWhole: true };
      },
    });
    assert.ok((await dying.takeDue()) >= 1);
    await scene.deliver();
    assert.equal(received().length, 0, 'the claim is in force');
    await scene.time.advance(31 * SECOND_MS);
    await scene.deliver();
    assert.equal(received().length, 1);
    answerLate();
    await dying.idle();
    const [delivery] = await scene.deliveries(shop.headers, endpoint.id);
    assert.deepEqual([delivery?.status, delivery?.attempts, delivery?.lastAttempt?.status], ['succeeded', 1, 200]);
  });

  it('share the places of a partner among its endpoints, and send nothing late to a deleted one', async () => {
    const shop = await openShop(scene.gateway);
    const paths = Array.from({ length: 20 }, newPath);
    const ids: string[] = [];
    for (const path of paths) ids.push((await scene.subscribe(shop.headers, path, { events: ['payment.created'] })).id);
    for (let count = 0; count < 10; count += 1) await shop.created();
    await scene.fanOut();
    const held: (() => void)[] = [];
    scene.receiver.answerWith((request, response) => {
      if (paths.includes(request.path)) held.push(() => response.end());
      else response.end();
    });
    const courier = newCourier(scene.gateway);
    await courier.takeDue();
    await until('the places of the partner are in use', () => held.length === 128);
    const silent = paths.filter((path) => scene.receiver.at(path).length === 0);
    assert.ok(silent.length > 0);
    held.splice(0, 1)[0]?.();
    await until('the free place is used by another endpoint', () => held.length === 128);
    for (const id of ids) await scene.call('DELETE', `/v1/webhook-endpoints/${id}`, shop.headers);
    await scene.time.advance(4 * SECOND_MS);
    const arrived = () => paths.reduce((sum, path) => sum + scene.receiver.at(path).length, 0);
    const before = arrived();
    await courier.takeDue();
    for (const release of held.splice(0)) release();
    await courier.idle();
    assert.equal(arrived(), before);
  });

  it('are handed over at once by a node that stops', async () => {
    const { shop, received } = await openHooked({ events: ['payment.created'] });
    for (let count = 0; count < 12; count += 1) await shop.created();
    await scene.fanOut();
    const stopping = newCourier(scene.gateway);
    await stopping.takeDue();
    await stopping.stop();
    assert.ok(received().length < 12);
    await scene.deliver();
    assert.equal(new Set(received().map((request) => bodyOf(request).id)).size, 12);
    assert.equal(received().length, 12, 'none is sent twice');
  });

  it('are within the limits of a key for certain merchants', async () => {
    const { shop, endpoint } = await openHooked();
    const second = await createTestMerchant(scene.gateway, shop.headers);
    const issued = await createTestKey(scene.gateway, shop.partner.id, { key: { merchantIds: [second.id] } });
    const limited = { 'api-key': issued.secret };
    const own = await scene.subscribe(limited, newPath());
    assert.deepEqual(own.merchantIds, [second.id]);
    const listed = (await scene.call('GET', '/v1/webhook-endpoints', limited)).json().webhookEndpoints;
    assert.deepEqual(
      listed.map(({ id }: EndpointView) => id),
      [own.id],
    );
    assert.equal((await scene.call('GET', `/v1/webhook-endpoints/${endpoint.id}`, limited)).statusCode, 404);
    assert.equal((await scene.call('DELETE', `/v1/webhook-endpoints/${endpoint.id}`, limited)).statusCode, 404);
    const widened = await scene.call('PATCH', `/v1/webhook-endpoints/${own.id}`, limited, {
      merchantIds: [shop.merchant.id],
    });
    assert.equal(widened.statusCode, 403);
    const all = await scene.call('PATCH', `/v1/webhook-endpoints/${own.id}`, limited, { merchantIds: null });
    assert.deepEqual(all.json().webhookEndpoint.merchantIds, [second.id]);
  });

  it('go on while the merchant is suspended', async () => {
    const { shop, received } = await openHooked({ events: ['payment.*'] });
    const { paymentId } = await shop.created();
    const changes = { status: 'suspended' } as const;
    await changeMerchant(scene.gateway, { owner: null, actor: 'test', merchantId: shop.merchant.id, changes });
    await shop.cancel(paymentId);
    await scene.deliver();
    assert.deepEqual(typesOf(received()), ['payment.cancelled', 'payment.created']);
  });

  it('leave out the line items of a payment that is too large, and have at most 64 KB', async () => {
    const { shop, received } = await openHooked({ events: ['payment.created'] });
    const lineItems = Array.from({ length: 100 }, () => ({
      name: '€'.repeat(130),
      amount: { unit: `caip19/eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913`, value: '9'.repeat(70) },
    }));
    await shop.created({ lineItems });
    await scene.deliver();
    const [request] = received();
    assert.ok(request && Buffer.byteLength(request.body) <= 64 * 1024);
    assert.equal(bodyOf(request).data.lineItems, null);
  });

  it('leave who did what in the audit log, without secrets', async () => {
    const { shop, endpoint } = await openHooked();
    const url = `/v1/webhook-endpoints/${endpoint.id}`;
    await change(shop, endpoint.id, { description: 'Other' });
    await scene.call('POST', `${url}/rotate-secret`, shop.headers);
    await scene.call('DELETE', url, shop.headers);
    const entries = await listAudit(scene.gateway.db.sql, { subject: endpoint.id, limit: 10 });
    assert.deepEqual(entries.map(({ action }) => action).toReversed(), [
      'webhook_endpoint.created',
      'webhook_endpoint.changed',
      'webhook_endpoint.secret_rotated',
      'webhook_endpoint.deleted',
    ]);
    for (const entry of entries) {
      assert.equal(entry.actor, `key:${shop.key.id}`);
      assert.doesNotMatch(JSON.stringify(entry), /whsec_|wrapped/);
    }
  });

  it('keep their secrets when the master secret is rotated; if it is lost, the endpoint waits for a new secret', async () => {
    const { shop, endpoint, received } = await openHooked({ events: ['payment.created'] });
    const now = new Date(scene.time.clock.nowMs());
    const newer = new Uint8Array(32).fill(9);
    const both = createSecrets([newer, TEST_SECRET]);
    const rewrap = (secrets: typeof both, isLost: boolean) =>
      command(scene.gateway, (tx) => rewrapEndpointSecrets(within(tx), { secrets }, { isLost, now }));
    await assert.rejects(rewrap(createSecrets([new Uint8Array(32).fill(3)]), false), /master secret/);
    assert.ok((await rewrap(both, false)) > 0);
    // Back to the one secret of this gateway, so that the other tests go on.
    await rewrap(createSecrets([TEST_SECRET, newer]), false);
    await shop.created();
    await scene.deliver();
    assert.equal(received().length, 1);
    assert.equal(await statusOf(shop, endpoint.id), 'active');

    await rewrap(createSecrets([new Uint8Array(32).fill(3)]), true);
    assert.equal(await statusOf(shop, endpoint.id), 'disabled');
    await change(shop, endpoint.id, { status: 'active' });
    await shop.created();
    await scene.deliver();
    assert.equal(received().length, 1, 'nothing is sent without a signature');
    const unsent = (await scene.deliveries(shop.headers, endpoint.id)).find(({ status }) => status === 'pending');
    assert.equal(unsent?.lastAttempt?.problem, 'The endpoint has no secret. Rotate it.');
    const url = `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`;
    secretsSeen.push((await scene.call('POST', url, shop.headers)).json().webhookEndpoint.secret);
    await scene.time.advance(10 * SECOND_MS);
    await scene.deliver();
    assert.equal(received().length, 2);
  });

  it('have no secret in any log', () => {
    assert.ok(logged.length > 0);
    assert.ok(secretsSeen.length > 10);
    for (const secret of secretsSeen) assert.ok(!logged.includes(secret.slice('whsec_'.length)));
    assert.doesNotMatch(logged, /whsec_/);
  });
});

describe('a node', () => {
  it('delivers webhooks by itself, together with another node, and goes on after one of them has stopped', async () => {
    const receiver = await startReceiver();
    const first = await startTestGateway();
    const second = await startTestGateway({ databaseUrl: first.databaseUrl });
    const start = (node: TestGateway) =>
      startDelivering({
        ...node,
        exchangeFor: openReceivers({ config: node.config, world: systemWorld }),
      });
    const stops = [await start(first), await start(second)];
    const shop = await openShop(first);
    const payload = { url: `${receiver.origin}/hook`, events: ['payment.created'] };
    await first.call({ method: 'POST', url: '/v1/webhook-endpoints', headers: shop.headers, payload });
    const expected = new Set<string>();
    const buy = async (count: number) => {
      const created = await Promise.all(Array.from({ length: count }, () => shop.created()));
      for (const { paymentId } of created) expected.add(paymentId);
    };
    const got = () => receiver.received.map(({ body }) => JSON.parse(body).data.id);
    await buy(40);
    await until('all have arrived', () => new Set(got()).size === expected.size);
    await stops[0]?.();
    await buy(40);
    await until('all have arrived from the other node', () => new Set(got()).size === expected.size);
    assert.deepEqual(new Set(got()), expected);
    assert.equal(got().length, expected.size, 'each came once');
    await stops[1]?.();
    await second.stop();
    await first.stop();
    await receiver.stop();
  });
});
