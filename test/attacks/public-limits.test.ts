import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HTTPMethods } from 'fastify';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { revokeKey } from '../../src/actions/parties/issue-key.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { exchange, listen } from '../sockets.ts';

const PER_SECOND = 5;
/** Files, health checks and preflight requests may be this many times as frequent. */
const CHEAP_FACTOR = 20;

describe('requests without a key', () => {
  let gateway: TestGateway;
  let time: ManualTime;
  before(async () => {
    time = manualTime(Date.UTC(2026, 2, 1));
    gateway = await startTestGateway({
      world: { clock: time.clock, timers: time.timers },
      config: { addressRequestsPerSecond: PER_SECOND },
      sandbox: { apiKey: 'none', merchantId: 'none', chainId: 'eip155:1', rpcUrl: 'http://127.0.0.1:1' },
    });
  });
  after(() => gateway.stop());

  /** Sends more requests than the largest limit within one moment, and counts the refusals. */
  async function flood(method: HTTPMethods, url: string, count: number): Promise<number> {
    await time.advance(10_000);
    let refused = 0;
    for (let sent = 0; sent < count; sent += 1) {
      const response = await gateway.app.inject({ method: method as 'GET', url, headers: { accept: 'text/html' } });
      if (response.statusCode === 429) refused += 1;
    }
    return refused;
  }

  for (const [method, url] of [
    ['GET', '/docs'],
    ['GET', '/openapi.json'],
    ['GET', '/'],
    ['GET', '/?pid=pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
    ['GET', '/pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
    ['GET', '/c/01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
    ['GET', '/tx/eip155:1/x'],
    ['GET', '/logos/00000000000000000000000000000000'],
    ['GET', '/.well-known/till-receipts.json'],
    ['GET', '/demo'],
    ['GET', '/demo/thanks'],
    ['POST', '/sandbox/rpc'],
    ['DELETE', '/docs'],
    ['GET', '/no-such-route'],
    ['GET', '/v1/no-such-route'],
    ['GET', '/v1/payments'],
    ['POST', '/v1/gateway/payment/x/options'],
  ] as const) {
    it(`${method} ${url} is limited by address`, async () => {
      assert.equal(await flood(method, url, PER_SECOND + 3), 3);
    });
  }

  for (const [method, url] of [
    ['GET', '/health'],
    ['GET', '/ready'],
    ['GET', '/favicon.ico'],
    ['GET', '/assets/x.js'],
    ['GET', '/icons/x.svg'],
    ['OPTIONS', '/v1/gateway/payment/x/options'],
  ] as const) {
    it(`${method} ${url} costs little and has the higher limit`, async () => {
      assert.equal(await flood(method, url, PER_SECOND * CHEAP_FACTOR + 3), 3);
    });
  }
});

describe('a key that is no longer in force', () => {
  it('is limited like no key, however often the node has seen it', async () => {
    const time = manualTime(Date.UTC(2026, 2, 1));
    const gateway = await startTestGateway({
      world: { clock: time.clock, timers: time.timers },
      config: { addressRequestsPerSecond: PER_SECOND },
    });
    const revoked = await createTestPartner(gateway);
    const expired = await createTestPartner(gateway, { key: { expiresAt: new Date(Date.UTC(2026, 2, 1) + 1_000) } });
    const disabled = await createTestPartner(gateway);
    for (const { headers } of [revoked, expired, disabled]) {
      const response = await gateway.call({ method: 'GET', url: '/v1/merchants', headers });
      assert.equal(response.statusCode, 200);
    }
    await revokeKey(gateway, { actor: 'test', keyId: revoked.key.id });
    await changePartner(gateway, { actor: 'test', partnerId: disabled.partner.id, changes: { isDisabled: true } });
    for (const { headers } of [revoked, expired, disabled]) {
      await time.advance(10_000);
      const statuses: number[] = [];
      for (let sent = 0; sent < PER_SECOND + 3; sent += 1) {
        statuses.push((await gateway.call({ method: 'GET', url: '/v1/merchants', headers })).statusCode);
      }
      assert.deepEqual(statuses, [...Array<number>(PER_SECOND).fill(401), 429, 429, 429]);
    }
    await gateway.stop();
  });
});

describe('an overloaded node', () => {
  let gateway: TestGateway;
  /** The clock goes on and no timer runs: that is an event loop that is late. */
  let lateMs = 0;
  let headers: Record<string, string>;
  let paymentId: string;
  before(async () => {
    const { clock, timers } = manualTime(Date.UTC(2026, 2, 1));
    const world = { clock: { nowMs: () => clock.nowMs() + lateMs }, timers };
    gateway = await startTestGateway({ world, config: { maxEventLoopDelayMs: 500 } });
    const partner = await createTestPartner(gateway);
    headers = { ...partner.headers, 'merchant-id': (await createTestMerchant(gateway, partner.headers)).id };
    paymentId = (await create()).json().paymentId;
  });
  after(() => gateway.stop());
  const create = () =>
    gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { referenceId: 'order-1', amount: { unit: 'iso4217/USD', value: '100' } },
    });
  const get = async (url: string) => (await gateway.app.inject({ method: 'GET', url, headers })).statusCode;
  const statuses = async () => ({
    create: (await create()).statusCode,
    status: await get(`/v1/payments/${paymentId}/status`),
    details: await get(`/v1/payments/${paymentId}`),
    list: await get('/v1/payments'),
    docs: await get('/docs'),
    health: await get('/health'),
  });

  it('gives up lists and documentation first, and payments last', async () => {
    const all = { create: 201, status: 200, details: 200, list: 200, docs: 200, health: 200 };
    assert.deepEqual(await statuses(), all);
    // One late turn weighs three tenths.
    lateMs = 800;
    assert.deepEqual(await statuses(), { ...all, list: 503, docs: 503 });
    lateMs = 1_350;
    assert.deepEqual(await statuses(), { ...all, details: 503, list: 503, docs: 503 });
    lateMs = 1_900;
    assert.deepEqual(await statuses(), {
      create: 503,
      status: 503,
      details: 503,
      list: 503,
      docs: 503,
      health: 200,
    });
  });
});

describe('an empty header beside another one', () => {
  it('counts as missing, whether it comes once or several times', async () => {
    const gateway = await startTestGateway();
    const { secret } = await createTestPartner(gateway);
    const port = await listen(gateway);
    const ask = async (lines: readonly string[]) => {
      const text = ['GET /v1/merchants HTTP/1.1', 'Host: x', ...lines, 'Connection: close', '', ''].join('\r\n');
      return (await exchange(port, text))?.status;
    };
    const key = `Api-Key: ${secret}`;
    assert.equal(await ask([key, 'Pay-Version:']), 200);
    assert.equal(await ask([key, 'Pay-Version:', 'Pay-Version:']), 200);
    assert.equal(await ask([key, 'Pay-Version:', 'Pay-Version: 2026-02-18']), 200);
    assert.equal(await ask(['Api-Key:', key]), 200);
    assert.equal(await ask(['Api-Key:', 'Api-Key:']), 401);
    assert.equal(await ask([key, key]), 401);
    await gateway.stop();
  });
});
