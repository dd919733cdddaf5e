import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pruneIdempotencyKeys } from '../../src/actions/prune-idempotency-keys.ts';
import { connectTo, type TestConnection } from '../database.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { listen, openSocket } from '../sockets.ts';
import { until } from '../until.ts';

const SHOP = { merchantName: 'Shop', merchantEmail: 'shop@example.com' };
const DAY_MS = 24 * 3_600_000;
type Headers = Record<string, string>;

// The tests are independent and some wait on purpose, so they share the time.
const TOGETHER = { concurrency: true };

describe('idempotency', TOGETHER, () => {
  describe('an Idempotency-Key', TOGETHER, ofOneKey);
  describe('an Idempotency-Key in an accident', { concurrency: false }, inAnAccident);
  it('keeps keys for seven days and more, and lets them go in batches', pruning);
});

function ofOneKey() {
  let gateway: TestGateway;
  let admin: TestConnection;
  before(async () => {
    gateway = await startTestGateway();
    admin = connectTo(gateway.databaseUrl);
  });
  after(async () => {
    await admin.end();
    await gateway.stop();
  });

  const create = (headers: Headers, key: string | undefined, payload: object | string = SHOP, on = gateway) =>
    on.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...headers, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      payload,
    });
  const register = (headers: Headers, key: string, merchantId: string, asset: string, on = gateway) =>
    on.call({
      method: 'POST',
      url: `/v1/merchants/${merchantId}/settlements/crypto`,
      headers: { ...headers, 'idempotency-key': key },
      payload: { settlements: [{ asset, destination: `${asset.split('/')[0]}:0x${'1'.repeat(40)}` }] },
    });
  const countMerchants = async (headers: Headers, on = gateway): Promise<number> =>
    (await on.call({ url: '/v1/merchants', headers })).json().totalCount;
  const isReplay = ({ headers }: { headers: Record<string, unknown> }) => headers['idempotent-replayed'] === 'true';

  it('is required where something is made that must not be made twice', async () => {
    const { headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    const settlement = { asset: 'eip155:1/slip44:60', destination: `eip155:1:0x${'1'.repeat(40)}` };
    for (const [url, payload] of [
      ['/v1/merchants', SHOP],
      [`/v1/merchants/${id}/settlements/crypto`, { settlements: [settlement] }],
    ] as const) {
      for (const key of [undefined, '', '""', 'x'.repeat(256), `"${'x'.repeat(256)}"`, 'tab\there']) {
        const refused = await gateway.call({
          method: 'POST',
          url,
          headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
          payload,
        });
        assert.equal(refused.statusCode, 400, key);
        assert.equal(refused.json().code, 'params_validation');
        assert.deepEqual(
          refused.json().issues.map(({ field }: { field: string }) => field),
          ['Idempotency-Key'],
        );
      }
    }
    assert.equal(await countMerchants(headers), 1);
  });

  it('of 255 characters is fine', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = `~ !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}${'k'.repeat(300)}`.slice(0, 255);
    assert.equal((await create(headers, key)).statusCode, 201);
    assert.ok(isReplay(await create(headers, `"${key}"`)), 'the quotes do not count');
  });

  it('is ignored where nothing can be made twice', async () => {
    const { headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    const key = 'x'.repeat(300);
    for (const request of [
      { method: 'GET', url: '/v1/merchants', payload: undefined },
      { method: 'PATCH', url: `/v1/merchants/${id}`, payload: { merchantName: 'One' } },
      { method: 'PATCH', url: `/v1/merchants/${id}`, payload: { merchantName: 'Two' } },
      { method: 'DELETE', url: `/v1/merchants/${id}`, payload: undefined },
    ] as const) {
      const response = await gateway.call({ ...request, headers: { ...headers, 'idempotency-key': key } });
      assert.equal(response.statusCode, 200);
      assert.ok(!isReplay(response));
    }
  });

  it('gives a retry the first answer, however the retry is spelled', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = freshKey();
    const first = await create(headers, key, { ...SHOP, iconUrl: null });
    assert.equal(first.statusCode, 201);
    assert.ok(!isReplay(first));
    const retries: [key: string, payload: object | string][] = [
      [key, { ...SHOP, iconUrl: null }],
      [`"${key}"`, SHOP],
      [key, { merchantEmail: SHOP.merchantEmail, merchantName: SHOP.merchantName }],
      [key, `{ "merchantEmail" :\n"shop@example.com", "merchantName": "\\u0053hop" }`],
      [key, { ...SHOP, unknown: 'members mean nothing' }],
    ];
    for (const [spelled, payload] of retries) {
      const retry = await create(headers, spelled, payload);
      assert.equal(retry.statusCode, 201);
      assert.ok(isReplay(retry));
      assert.equal(retry.body, first.body);
    }
    assert.equal(await countMerchants(headers), 1);
    const metrics = await gateway.metrics.registry.metrics();
    assert.match(metrics, /till_idempotent_replays_total [1-9]/);
  });

  it('gives a retry the answer of that time, even when things have changed since', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = freshKey();
    const first = await create(headers, key);
    const { id } = first.json().merchant;
    await gateway.call({ method: 'PATCH', url: `/v1/merchants/${id}`, headers, payload: { merchantName: 'Renamed' } });
    await gateway.call({ method: 'DELETE', url: `/v1/merchants/${id}`, headers });
    assert.equal((await create(headers, key)).body, first.body);
    assert.equal(await countMerchants(headers), 0);
  });

  it('is refused with another request, and the first one stays as it was', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = freshKey();
    const first = await create(headers, key);
    for (const payload of [
      { ...SHOP, merchantName: 'Shop 2' },
      { ...SHOP, merchantName: 'shop' },
      { ...SHOP, iconUrl: 'https://example.com/logo.png' },
    ]) {
      const refused = await create(headers, key, payload);
      assert.deepEqual([refused.statusCode, refused.json().code], [409, 'idempotency_conflict']);
      assert.equal(refused.headers['retry-after'], undefined, 'waiting would not help');
    }
    assert.equal((await create(headers, key)).body, first.body);
    assert.equal(await countMerchants(headers), 1);
  });

  it('on ten simultaneous requests makes one merchant and ten equal answers', async () => {
    const { headers } = await createTestPartner(gateway);
    const node = await startTestGateway({ databaseUrl: gateway.databaseUrl });
    const key = freshKey();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => create(headers, key, SHOP, index % 2 === 0 ? gateway : node)),
    );
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([201]));
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
    assert.equal(answers.filter(isReplay).length, 9);
    assert.equal(await countMerchants(headers), 1);
    await node.stop();
  });

  it('belongs to its partner, mode, merchant and route', async () => {
    const key = freshKey();
    const [one, other] = [await createTestPartner(gateway), await createTestPartner(gateway)];
    const live = await createTestKey(gateway, one.partner.id, { mode: 'live' });
    const callers = [one.headers, other.headers, { 'api-key': live.secret }];
    const ids = new Set<string>();
    for (const headers of callers) {
      const response = await create(headers, key);
      assert.ok(!isReplay(response));
      ids.add(response.json().merchant.id);
    }
    assert.equal(ids.size, 3);

    const sibling = await createTestKey(gateway, one.partner.id);
    assert.ok(isReplay(await create({ 'api-key': sibling.secret }, key)), 'it does not belong to one API key');

    const [first, second] = [
      await createTestMerchant(gateway, one.headers),
      await createTestMerchant(gateway, one.headers),
    ];
    for (const { id } of [first, second]) {
      const response = await register(one.headers, key, id, 'eip155:1/slip44:60');
      assert.equal(response.statusCode, 201, 'neither the other route nor the other merchant has used it');
      assert.ok(!isReplay(response));
    }
    const retried = await register(one.headers, key, first.id, 'eip155:1/slip44:60');
    assert.ok(isReplay(retried));
    const payment = await gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...one.headers, 'merchant-id': first.id, 'idempotency-key': key },
      payload: { amount: { unit: 'iso4217/USD', value: '100' }, referenceId: 'ORDER-1' },
    });
    assert.equal(payment.statusCode, 201);
    assert.ok(!isReplay(payment));
  });

  it('stays free when the request was refused for its form, its caller or its merchant', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = freshKey();
    const count = async () => Number((await admin`select count(*) from idempotency_keys where key = ${key}`)[0]?.count);
    for (const payload of [{}, '{', { ...SHOP, merchantName: '' }, { ...SHOP, iconUrl: 'https://[' }]) {
      assert.equal((await create(headers, key, payload)).statusCode, 400);
    }
    assert.equal((await create({ ...headers, 'pay-version': '2030-01-01' }, key)).statusCode, 400);
    assert.equal((await create({}, key)).statusCode, 401);
    assert.equal((await register(headers, key, 'mrch_x', 'eip155:1/slip44:60')).statusCode, 404);
    assert.equal(await count(), 0);
    const accepted = await create(headers, key);
    assert.equal(accepted.statusCode, 201);
    assert.ok(!isReplay(accepted));
    assert.equal(await count(), 1);
  });

  it('keeps a refusal for the state of things, and gives it again when that state is gone', async () => {
    const { headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    const [asset, key] = ['eip155:1/slip44:60', freshKey()];
    const registered = await register(headers, freshKey(), id, asset);
    const refused = await register(headers, key, id, asset);
    assert.deepEqual([refused.statusCode, refused.json().code], [409, 'invalid_state']);
    assert.ok(!isReplay(refused));

    const settlement = registered.json().settlements[0].id;
    await gateway.call({ method: 'DELETE', url: `/v1/merchants/${id}/settlements/crypto/${settlement}`, headers });
    const again = await register(headers, key, id, asset);
    assert.equal(again.statusCode, 409);
    const { message, ...rest } = again.json();
    const { message: first, ...others } = refused.json();
    assert.deepEqual(rest, others);
    assert.ok(message.startsWith(`${first} This is the stored answer of 2`), message);
    assert.match(message, /Z for this Idempotency-Key; use a new key to try again\.$/);
    assert.ok(isReplay(again));
    const other = await register(headers, key, id, 'eip155:10/slip44:60');
    assert.deepEqual([other.statusCode, other.json().code], [409, 'idempotency_conflict']);
    assert.equal((await register(headers, freshKey(), id, asset)).statusCode, 201);
  });

  it('that is still running is waited for, at most five seconds, and then refused for now', async () => {
    const { headers, partner } = await createTestPartner(gateway);
    const key = freshKey();
    const holder = connectTo(gateway.databaseUrl);
    await holder`begin`;
    await holder`
      insert into idempotency_keys (partner_id, mode, merchant_id, route, key, request_hash, created_at)
      values (${partner.id}, 'test', '', 'POST /v1/merchants', ${key}, 'another', now())`;
    const startedMs = performance.now();
    const refused = await create(headers, key);
    const waitedMs = performance.now() - startedMs;
    assert.deepEqual([refused.statusCode, refused.json().code], [409, 'idempotency_conflict']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.ok(waitedMs > 4_500 && waitedMs < 7_000, `it waited ${waitedMs} ms`);
    await holder`rollback`;
    await holder.end();
    assert.equal((await create(headers, key)).statusCode, 201);
    assert.equal(await countMerchants(headers), 1);
  });
}

function inAnAccident() {
  let gateway: TestGateway;
  let admin: TestConnection;
  before(async () => {
    gateway = await startTestGateway();
    admin = connectTo(gateway.databaseUrl);
  });
  after(async () => {
    await admin.end();
    await gateway.stop();
  });

  const create = (headers: Headers, key: string) =>
    gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...headers, 'idempotency-key': key },
      payload: SHOP,
    });
  const countMerchants = async (headers: Headers): Promise<number> =>
    (await gateway.call({ url: '/v1/merchants', headers })).json().totalCount;

  /** Lets requests get as far as the audit row, the last write before the answer is stored, and stops them there. */
  async function holdBeforeAnswer() {
    const connection = connectTo(gateway.databaseUrl);
    await connection`begin`;
    await connection`lock table audit_log in share mode`;
    const waiting = () =>
      admin<{ pid: number }[]>`
        select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%audit_log%'`;
    return {
      arrived: () => until('a request waits for the audit log', async () => (await waiting()).length > 0),
      async kill() {
        for (const { pid } of await waiting()) await admin`select pg_terminate_backend(${pid})`;
      },
      async release() {
        await connection`rollback`;
        await connection.end();
      },
    };
  }

  it('loses neither the work nor the answer when the node dies between the two', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = freshKey();
    const hold = await holdBeforeAnswer();
    const cut = create(headers, key);
    await hold.arrived();
    await hold.kill();
    const failed = await cut;
    assert.deepEqual([failed.statusCode, failed.json().code], [503, 'internal_error']);
    assert.equal(failed.headers['retry-after'], '1');
    await hold.release();

    assert.equal(await countMerchants(headers), 0, 'the work went with the answer');
    const retried = await create(headers, key);
    assert.equal(retried.statusCode, 201);
    assert.equal(retried.headers['idempotent-replayed'], undefined);
    assert.equal((await create(headers, key)).body, retried.body);
    assert.equal(await countMerchants(headers), 1);
  });

  it('keeps the answer for a client that hung up before it came', async () => {
    const { headers, secret } = await createTestPartner(gateway);
    const key = freshKey();
    const port = await listen(gateway);
    const hold = await holdBeforeAnswer();
    const body = JSON.stringify(SHOP);
    const socket = await openSocket(port);
    socket.write(
      `POST /v1/merchants HTTP/1.1\r\nHost: localhost\r\nApi-Key: ${secret}\r\nIdempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await hold.arrived();
    socket.destroy();
    await hold.release();
    await until('the merchant is there', async () => (await countMerchants(headers)) === 1);
    const retried = await create(headers, key);
    assert.equal(retried.statusCode, 201);
    assert.equal(retried.headers['idempotent-replayed'], 'true');
    assert.equal(await countMerchants(headers), 1);
  });

  it('makes a second request wait for the first and share its answer', async () => {
    const { headers } = await createTestPartner(gateway);
    const key = freshKey();
    const hold = await holdBeforeAnswer();
    const first = create(headers, key);
    await hold.arrived();
    const second = create(headers, key);
    const blocked = () => admin`
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into idempotency_keys%'`;
    await until('the second waits for the first', async () => (await blocked()).length > 0);
    await hold.release();
    const [one, two] = [await first, await second];
    assert.deepEqual([one.statusCode, two.statusCode], [201, 201]);
    assert.equal(one.body, two.body);
    assert.deepEqual([one.headers['idempotent-replayed'], two.headers['idempotent-replayed']], [undefined, 'true']);
  });
}

async function pruning() {
  const time = manualTime();
  const gateway = await startTestGateway({ world: time });
  const { headers, partner } = await createTestPartner(gateway);
  const key = freshKey();
  const create = () =>
    gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...headers, 'idempotency-key': key },
      payload: SHOP,
    });
  const first = await create();

  const admin = connectTo(gateway.databaseUrl);
  await admin`
      insert into idempotency_keys (partner_id, mode, merchant_id, route, key, request_hash, status, body, created_at)
      select ${partner.id}, 'test', '', 'POST /v1/merchants', 'old-' || n, 'hash', 201, '{}',
        ${new Date(time.clock.nowMs() - 30 * DAY_MS)}
      from generate_series(1, 2500) n`;
  const left = async () => Number((await admin`select count(*) from idempotency_keys`)[0]?.count);
  await time.advance(7 * DAY_MS);
  assert.deepEqual([await pruneIdempotencyKeys(gateway), await left()], [true, 1501]);
  assert.deepEqual([await pruneIdempotencyKeys(gateway), await left()], [true, 501]);
  assert.deepEqual([await pruneIdempotencyKeys(gateway), await left()], [false, 1]);
  const replayed = await create();
  assert.equal(replayed.body, first.body, 'seven days later it is still known');
  assert.equal(replayed.headers['idempotent-replayed'], 'true');

  await time.advance(DAY_MS + 1);
  assert.deepEqual([await pruneIdempotencyKeys(gateway), await left()], [false, 0]);
  assert.notEqual((await create()).body, first.body);
  await admin.end();
  await gateway.stop();
}
