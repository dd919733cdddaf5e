import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createClockCheck } from '../../src/actions/check-clock.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';

const AHEAD_MS = 120_000;

describe('nodes whose clocks differ', () => {
  let database: TestDatabase;
  let right: TestGateway;
  let ahead: TestGateway;
  let offMs = AHEAD_MS;
  before(async () => {
    database = await createTestDatabase();
    right = await startTestGateway({ databaseUrl: database.url, isOnDatabaseTime: true });
    const clock = { nowMs: () => systemWorld.clock.nowMs() + offMs };
    ahead = await startTestGateway({ databaseUrl: database.url, isOnDatabaseTime: true, world: { clock } });
  });
  after(async () => {
    await ahead.stop();
    await right.stop();
    await database.drop();
  });
  const ready = async (node: TestGateway) => (await node.call({ url: '/ready' })).json();
  const alerts = async () => (await listAlerts(right.db.sql)).filter(({ name }) => name === 'clock_off');

  it('a payment is payable for all of its time, also on a node whose clock is two minutes ahead', async () => {
    const partner = await createTestPartner(right);
    const { id: merchantId } = await createTestMerchant(right, partner.headers);
    const headers = { ...partner.headers, 'merchant-id': merchantId };
    const created = await right.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: {
        referenceId: freshKey(),
        amount: { unit: 'iso4217/USD', value: '500' },
        expiresAt: Math.floor(Date.now() / 1_000) + 90,
      },
    });
    assert.equal(created.statusCode, 201, created.body);
    const { paymentId } = created.json();
    const expire = housekeepingJobs(ahead).find(({ name }) => name === 'expire-payments');
    await expire?.run();
    for (const node of [right, ahead]) {
      const { status } = (await node.call({ url: `/v1/payments/${paymentId}/status`, headers })).json();
      assert.equal(status, 'requires_action');
    }
  });

  it('a node with a wrong clock says so in /ready and with an alert, and no longer when the clock is right', async () => {
    const [check, checkOther] = [createClockCheck(ahead), createClockCheck(right)];
    await Promise.all([check(), checkOther()]);
    const [alert, ...others] = await alerts();
    assert.deepEqual(others, []);
    assert.match(alert?.message ?? '', /120 s ahead of the database/);
    const bad = await ready(ahead);
    assert.equal(bad.ready, true, 'it goes by the time of the database, and can take requests');
    assert.ok(Math.abs(bad.clockOffMs - AHEAD_MS) < 5_000);
    assert.ok(bad.remarks.some((remark: string) => remark.includes('ahead of the database')));
    assert.deepEqual(
      (await ready(right)).remarks.filter((remark: string) => remark.includes('clock')),
      [],
    );
    offMs = 0;
    await until('the clock is right', async () => Math.abs((await ready(ahead)).clockOffMs) < 1_000);
    await check();
    assert.deepEqual(await alerts(), []);
  });
});
