import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { connectTo, type TestConnection } from '../database.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { until } from '../until.ts';

/** The key's own lists that run or wait; more are refused. */
const LISTS_AT_ONCE = 10;

describe('a partner that floods the gateway with lists', () => {
  let gateway: TestGateway;
  let slow: TestConnection;
  let noisy: Record<string, string>;
  let quiet: Record<string, string>;
  let noisyPartner: string;
  before(async () => {
    gateway = await startTestGateway({ config: { listTimeoutMs: 10_000 } });
    slow = connectTo(gateway.databaseUrl);
    const hammering = await createTestPartner(gateway);
    noisyPartner = hammering.partner.id;
    noisy = { ...hammering.headers, 'merchant-id': (await createTestMerchant(gateway, hammering.headers)).id };
    const { headers } = await createTestPartner(gateway);
    quiet = { ...headers, 'merchant-id': (await createTestMerchant(gateway, headers)).id };
  });
  after(async () => {
    await slow.end();
    await gateway.stop();
  });

  const list = (headers: Record<string, string>, query = 'sortBy=amount') =>
    gateway.call({ method: 'GET', url: `/v1/merchants/payments?${query}`, headers });
  const create = (headers: Record<string, string>) =>
    gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { referenceId: 'order-1', amount: { unit: 'iso4217/USD', value: '100' } },
    });
  /** Every list is as slow as can be while the work runs: a lock keeps its totals from being read. */
  async function whileListsHang(work: () => Promise<void>): Promise<void> {
    await slow.unsafe('begin');
    await slow.unsafe('lock table payment_stats in access exclusive mode');
    try {
      await work();
    } finally {
      await slow.unsafe('rollback');
    }
  }

  it('gets 429, and another partner still creates payments and reads them', async () => {
    const lists: ReturnType<typeof list>[] = [];
    await whileListsHang(async () => {
      for (let count = 0; count < 40; count += 1) lists.push(list(noisy));
      let refused = 0;
      for (const answer of lists) {
        void answer.then(({ statusCode }) => {
          if (statusCode === 429) refused += 1;
        });
      }
      await until('the lists beyond the limit are refused', () => refused === 40 - LISTS_AT_ONCE);
      const made = await create(quiet);
      assert.equal(made.statusCode, 201);
      const status = await gateway.call({
        method: 'GET',
        url: `/v1/payments/${made.json().paymentId}/status`,
        headers: quiet,
      });
      assert.equal(status.statusCode, 200);
    });
    const answers = await Promise.all(lists);
    assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, LISTS_AT_ONCE);
    const refusal = answers.find(({ statusCode }) => statusCode === 429);
    assert.equal(refusal?.json().code, 'rate_limited');
    assert.equal(refusal?.headers['retry-after'], '1');
  });

  it('waits for its turns with requests that can wait, and not with payments', async () => {
    const reads = Array.from({ length: 120 }, () =>
      gateway.call({ method: 'GET', url: '/v1/webhook-endpoints', headers: noisy }),
    );
    assert.equal((await create(noisy)).statusCode, 201);
    const refused = (await Promise.all(reads)).filter(({ statusCode }) => statusCode === 429);
    assert.match(refused[0]?.json().message, /^More than 50 requests wait for this node/);
  });

  it('leaves room for the lists of other keys', async () => {
    const busy = await createTestKey(gateway, noisyPartner);
    const hanging: ReturnType<typeof list>[] = [];
    await whileListsHang(async () => {
      for (let count = 0; count < LISTS_AT_ONCE; count += 1) hanging.push(list({ ...noisy, 'api-key': busy.secret }));
      await until('all places of the key are taken', async () => {
        const rows = await gateway.db.sql`
          select from pg_stat_activity where datname = current_database()
            and application_name = 'till-test-lists' and wait_event_type = 'Lock'`;
        return rows.length === 2;
      });
      // A search by reference reads no totals, so the lock does not concern it: only a free place is needed.
      assert.equal((await list(quiet, 'referenceId=order')).statusCode, 200);
    });
    await Promise.all(hanging);
  });
});

describe('a list that takes too long', () => {
  it('is ended by the server and refused with 429, not with a fault of ours', async () => {
    const gateway = await startTestGateway({ config: { listTimeoutMs: 100 } });
    const slow = connectTo(gateway.databaseUrl);
    const { headers } = await createTestPartner(gateway);
    await slow.unsafe('begin');
    await slow.unsafe('lock table merchants, payment_stats in access exclusive mode');
    const response = await gateway.call({ method: 'GET', url: '/v1/payments', headers });
    assert.deepEqual([response.statusCode, response.json().code], [429, 'rate_limited']);
    assert.equal(response.headers['retry-after'], '1');
    await slow.unsafe('rollback');
    await slow.end();
    await gateway.stop();
  });
});

describe('the database time of lists', () => {
  it('is charged to the key: expensive lists are refused until the debt is paid', async () => {
    let nowMs = Date.now();
    const reading = { pace: 0 };
    // Each look at the clock finds it later, by the pace of the test.
    const clock = { ...systemWorld.clock, nowMs: () => (nowMs += reading.pace) };
    const gateway = await startTestGateway({ world: { clock }, config: { listCostMsPerSecond: 1 } });
    const { headers } = await createTestPartner(gateway);
    const { headers: others } = await createTestPartner(gateway);
    const list = async (by: Record<string, string>) => {
      const response = await gateway.call({ method: 'GET', url: '/v1/payments', headers: by });
      return [response.statusCode, response.headers['retry-after']];
    };
    reading.pace = 1_000;
    assert.deepEqual(await list(headers), [200, undefined]);
    reading.pace = 0;
    const [status, retryAfter] = await list(headers);
    assert.equal(status, 429);
    assert.ok(Number(retryAfter) >= 1);
    assert.deepEqual(await list(others), [200, undefined]);
    nowMs += Number(retryAfter) * 1_000;
    assert.deepEqual(await list(headers), [200, undefined]);
    await gateway.stop();
  });
});
