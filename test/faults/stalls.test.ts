import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import { signalTree } from '../process-tree.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { until } from '../until.ts';

const SHOP = { merchantName: 'Shop', merchantEmail: 'shop@example.com' };
/** A node promises 3 s until it notices and 5 s until it is back. A machine that runs tests is slower. */
const NOTICED = { withinMs: 8_000 };
const BACK = { withinMs: 10_000 };

/** The line of the log when work is refused. */
const STALLED = /the database does not answer/;

describe('a database that hangs without closing its connections', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let gateway: TestGateway;
  let headers: Record<string, string>;
  let merchantId: string;
  const lines: string[] = [];
  before(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    gateway = await startTestGateway({ databaseUrl: proxy.url, losesDatabase: true, log });
    ({ headers } = await createTestPartner(gateway));
    merchantId = (await createTestMerchant(gateway, headers)).id;
  });
  after(async () => {
    proxy.resume();
    await gateway.stop();
    await proxy.cut();
    await database.drop();
  });

  const read = () => gateway.call({ url: `/v1/merchants/${merchantId}`, headers });
  const list = () => gateway.call({ url: '/v1/merchants', headers });
  const write = (key: string) =>
    gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...headers, 'idempotency-key': key },
      payload: SHOP,
    });
  async function createPayment(): Promise<string> {
    const answer = await gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'merchant-id': merchantId, 'idempotency-key': freshKey() },
      payload: { referenceId: freshKey(), amount: { unit: 'iso4217/USD', value: '500' } },
    });
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.json().paymentId as string;
  }
  /** Follows a promise without waiting for it. */
  function follow<T>(work: Promise<T>) {
    const state: { answer: T | undefined } = { answer: undefined };
    void work.then((answer) => {
      state.answer = answer;
    });
    return state;
  }
  const isUnanswered = ({ answer }: { answer: unknown }) => answer === undefined;
  const isBack = () => until('requests are answered', async () => (await list()).statusCode === 200, BACK);

  it('is noticed: requests under way, waiting and new ones are answered 503, and held ones are not', async () => {
    const paymentId = await createPayment();
    const held = follow(
      gateway.call({
        url: `/v1/payments/${paymentId}/status?maxPollMs=25000`,
        headers: { ...headers, 'merchant-id': merchantId },
      }),
    );
    await until('the request is held', () => gateway.longPolls.held === 1);
    proxy.hang();
    const keys = Array.from({ length: 30 }, freshKey);
    const waiting = follow(Promise.all(keys.map(write)));
    await until('all are answered', () => waiting.answer !== undefined, NOTICED);
    for (const answer of [...(waiting.answer ?? []), await list(), await write(freshKey())]) {
      assert.deepEqual([answer.statusCode, answer.json().code], [503, 'internal_error']);
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    }
    const ready = await gateway.call({ url: '/ready' });
    assert.deepEqual([ready.statusCode, ready.json().database], [503, 'unreachable']);
    assert.ok(isUnanswered(held), 'the held request goes on');

    assert.match(lines.join(''), STALLED);

    proxy.resume();
    await isBack();
    assert.equal((await gateway.call({ url: '/ready' })).statusCode, 200);
    const again = await Promise.all(keys.map(write));
    assert.deepEqual(new Set(again.map(({ statusCode }) => statusCode)), new Set([201]));
    const { totalCount } = (await list()).json();
    assert.equal(totalCount, keys.length + 1, 'each key made one merchant');
    const cancelled = await gateway.call({
      method: 'POST',
      url: `/v1/payments/${paymentId}/cancel`,
      headers: { ...headers, 'merchant-id': merchantId },
    });
    assert.equal(cancelled.statusCode, 200, cancelled.body);
    await until('the held request is answered', () => held.answer !== undefined, BACK);
    assert.equal(held.answer?.json().status, 'cancelled');
  });

  it('that never answers on its old connections is used over new ones', async () => {
    proxy.stall();
    const waiting = follow(Promise.all([write(freshKey()), list()]));
    await until('all are answered', () => waiting.answer !== undefined, NOTICED);
    await isBack();
    assert.equal((await write(freshKey())).statusCode, 201);
  });

  it('is not confused with a slow statement, which may take its time', async () => {
    const [row] = await gateway.db.sql`select pg_sleep(4), 'done' as done`;
    assert.equal(row?.done, 'done');
    assert.equal((await read()).statusCode, 200);
  });

  it('is not confused with a node that stood still itself', async () => {
    const before = lines.length;
    for (const endMs = performance.now() + 3_500; performance.now() < endMs; );
    assert.equal((await list()).statusCode, 200);
    assert.doesNotMatch(lines.slice(before).join(''), STALLED);
  });
});

describe('a PostgreSQL that is stopped by a signal', () => {
  let folder: string;
  let node: NodeProcess | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-stall-'));
  });
  after(async () => {
    // A node that is killed leaves a PostgreSQL that is about to end, and still writes into the folder.
    node?.signal('SIGTERM');
    await node?.ended;
    await rm(folder, { recursive: true, force: true });
  });

  it('makes the gateway answer 503, and is used again when it goes on; nothing is lost or doubled', async () => {
    node = await startNodeProcess({ TILL_HOME: folder });
    const { apiKey, merchantId, baseUrl } = await node.ready();
    const create = (key: string) =>
      fetch(`${baseUrl}/v1/payments`, {
        method: 'POST',
        headers: {
          'Api-Key': apiKey,
          'Merchant-Id': merchantId,
          'Idempotency-Key': key,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ referenceId: key, amount: { unit: 'iso4217/USD', value: '500' } }),
      });
    assert.equal((await create(freshKey())).status, 201);
    const { pid } = JSON.parse(await readFile(join(folder, 'postgres', 'connection.json'), 'utf8'));
    await signalTree(pid, 'SIGSTOP');
    try {
      const key = freshKey();
      const answers: number[] = [];
      void create(key).then(({ status }) => answers.push(status));
      await until('the request is answered', () => answers.length === 1, NOTICED);
      assert.deepEqual(answers, [503]);
      const refused = await create(freshKey());
      assert.equal(refused.status, 503);
      assert.equal(refused.headers.get('retry-after'), '1');
      await signalTree(pid, 'SIGCONT');
      await until('requests are answered', async () => (await create(key)).status === 201, BACK);
      const ids = await Promise.all(
        [create(key), create(key)].map(
          async (each) => ((await (await each).json()) as { paymentId: string }).paymentId,
        ),
      );
      assert.equal(new Set(ids).size, 1, 'one payment for one key');
    } finally {
      await signalTree(pid, 'SIGCONT');
    }
  });
});
