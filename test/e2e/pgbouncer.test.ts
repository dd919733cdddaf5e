import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { startNodeProcess } from '../node-process.ts';
import { missingPgBouncer, type PgBouncer, startPgBouncer } from '../pgbouncer.ts';
import { until } from '../until.ts';

const PRICE = { unit: 'iso4217/USD', value: '500' };

describe('a gateway behind PgBouncer in transaction mode', { skip: missingPgBouncer() }, () => {
  let database: TestDatabase;
  let pgBouncer: PgBouncer;
  let gateway: TestGateway;
  before(async () => {
    database = await createTestDatabase();
    pgBouncer = await startPgBouncer(database.url);
    gateway = await startTestGateway({
      databaseUrl: pgBouncer.url,
      config: { databaseDirectUrl: database.url },
    });
  });
  after(async () => {
    await gateway?.stop();
    await pgBouncer?.stop();
    await database?.drop();
  });

  it('works for many requests at once, and wakes held requests', async () => {
    const partner = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, partner.headers);
    const headers = { ...partner.headers, 'merchant-id': id };
    const create = (key: string) =>
      gateway.call({
        method: 'POST',
        url: '/v1/payments',
        headers: { ...headers, 'idempotency-key': key },
        payload: { referenceId: key, amount: PRICE },
      });
    const keys = Array.from({ length: 40 }, freshKey);
    const created = await Promise.all([...keys, ...keys].map(create));
    assert.deepEqual(new Set(created.map(({ statusCode }) => statusCode)), new Set([201]));
    const ids = created.map((answer) => answer.json().paymentId as string);
    assert.equal(new Set(ids).size, keys.length);
    const held = ids
      .slice(0, 10)
      .map((each) => gateway.call({ url: `/v1/payments/${each}/status?maxPollMs=25000`, headers }));
    await until('the requests are held', () => gateway.longPolls.held === held.length);
    const cancelled = await Promise.all(
      ids.slice(0, 10).map((each) => gateway.call({ method: 'POST', url: `/v1/payments/${each}/cancel`, headers })),
    );
    assert.deepEqual(new Set(cancelled.map(({ statusCode }) => statusCode)), new Set([200]));
    for (const answer of await Promise.all(held)) assert.equal(answer.json().status, 'cancelled');
    const list = await gateway.call({ url: '/v1/merchants/payments?limit=100', headers });
    assert.equal(list.statusCode, 200, list.body);
  });

  it('runs every statement under the limits and the durability of the gateway, alone and in a transaction', async () => {
    const ask = (sql: TestGateway['db']['sql']) => sql`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as idle, current_setting('synchronous_commit') as durable`;
    const limits = { statement: '15s', lock: '5s', idle: '15s', durable: 'on' };
    assert.deepEqual([...(await ask(gateway.db.sql))], [limits]);
    const [inTransaction] = await gateway.db.begin(gateway.world.random, (tx) => ask(tx));
    assert.deepEqual(inTransaction, limits);
    const [list] = await gateway.listDb.sql`
      select current_setting('work_mem') as memory, current_setting('transaction_read_only') as "isReadOnly"`;
    assert.deepEqual(list, { memory: '32MB', isReadOnly: 'on' });
    const [next] = await gateway.db.sql`
      select current_setting('work_mem') as memory, current_setting('transaction_read_only') as "isReadOnly"`;
    assert.notEqual(next?.memory, '32MB', 'nothing stays behind on a shared connection');
    assert.equal(next?.isReadOnly, 'off');
  });
});

describe('a node that is started on PgBouncer', { skip: missingPgBouncer() }, () => {
  it('migrates over the direct connection, and takes payments', ONLY_LONG, async () => {
    const home = await mkdtemp(join(tmpdir(), 'till-pgbouncer-node-'));
    const database = await createEmptyDatabase();
    const pgBouncer = await startPgBouncer(database.url);
    const node = await startNodeProcess({
      TILL_HOME: home,
      DATABASE_URL: pgBouncer.url,
      DATABASE_DIRECT_URL: database.url,
      SANDBOX: '1',
    });
    try {
      const { apiKey, merchantId, baseUrl } = await node.ready();
      const created = await fetch(`${baseUrl}/v1/payments`, {
        method: 'POST',
        headers: {
          'Api-Key': apiKey,
          'Merchant-Id': merchantId,
          'Idempotency-Key': freshKey(),
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ referenceId: freshKey(), amount: PRICE }),
      });
      assert.equal(created.status, 201, await created.text());
      node.signal('SIGTERM');
      assert.equal(await node.ended, 0);
    } finally {
      node.signal('SIGKILL');
      await node.ended;
      await pgBouncer.stop();
      await database.drop();
      await rm(home, { recursive: true, force: true });
    }
  });
});
