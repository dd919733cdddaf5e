import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connectTo, createTestDatabase, type TestConnection, type TestDatabase } from '../database.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';

const CRASHES = process.env.TILL_TEST_LONG === undefined ? 2 : 15;
const PAYMENTS = 900;
const AT_ONCE = 48;

describe('a node that is killed in the middle of a burst', () => {
  let database: TestDatabase;
  let home: string;
  let sql: TestConnection;
  const nodes: NodeProcess[] = [];
  before(async () => {
    database = await createTestDatabase();
    home = await mkdtemp(join(tmpdir(), 'till-crash-'));
    sql = connectTo(database.url);
  });
  after(async () => {
    for (const node of nodes) node.signal('SIGKILL');
    await Promise.all(nodes.map(({ ended }) => ended));
    await sql.end();
    await database.drop();
    await rm(home, { recursive: true, force: true });
  });

  /** All with one home, so that the key of the first is good for the next. */
  async function start() {
    const node = await startNodeProcess({
      TILL_HOME: home,
      DATABASE_URL: database.url,
      SANDBOX: '1',
      LOG_LEVEL: 'error',
      RATE_LIMIT_KEY_PER_SECOND: '1000000',
      MAX_EVENT_LOOP_DELAY_MS: '0',
    });
    nodes.push(node);
    return { node, ...(await node.ready()) };
  }
  type Running = Awaited<ReturnType<typeof start>>;

  /** The payment's id, or nothing where no answer came: the client cannot know then whether there is a payment. */
  async function create({ node, apiKey, merchantId }: Running, number: number): Promise<string | undefined> {
    const body = { amount: { unit: 'iso4217/USD', value: String(1_000 + number) }, referenceId: `ORDER-${number}` };
    const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchantId, 'Content-Type': 'application/json' };
    try {
      const answer = await fetch(`${node.baseUrl}/v1/payments`, {
        method: 'POST',
        headers: { ...headers, 'Idempotency-Key': `order-${number}` },
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 201);
      return ((await answer.json()) as { paymentId: string }).paymentId;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return undefined;
    }
  }

  /** Asks for every payment, many at a time, and tells of each answer as it comes. */
  async function burst(running: Running, onAnswer: (number: number, id: string | undefined) => void): Promise<void> {
    let next = 0;
    const client = async () => {
      while (next < PAYMENTS) {
        const number = next;
        next += 1;
        onAnswer(number, await create(running, number));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  }

  it('has made every payment it said it made, and retries make each of them exactly once', async () => {
    const told = new Map<number, string>();
    const note = (number: number, id: string) => {
      assert.equal(told.get(number) ?? id, id, 'a payment that was told of once is told of again');
      told.set(number, id);
    };
    for (let crash = 1; crash <= CRASHES; crash += 1) {
      const running = await start();
      const enough = Math.floor((PAYMENTS * crash) / (CRASHES + 1));
      let [answered, lost] = [0, 0];
      await burst(running, (number, id) => {
        if (id === undefined) {
          lost += 1;
          return;
        }
        note(number, id);
        answered += 1;
        if (answered === enough) running.node.signal('SIGKILL');
      });
      assert.equal(await running.node.ended, 'SIGKILL');
      assert.ok(lost > 0, 'it was killed while requests were in flight');
      const ids = [...told.values()];
      const found = await sql`select id from payments where id = any(${ids}::text[])`;
      assert.equal(found.length, ids.length, 'what was answered is in the database');
    }

    const running = await start();
    await burst(running, (number, id) => {
      assert.ok(id !== undefined, running.node.output());
      note(number, id);
    });
    const rows = await sql<{ id: string; referenceId: string; value: string }[]>`
      select id, reference_id as "referenceId", amount_value as value from payments where merchant_id = ${running.merchantId}`;
    assert.equal(rows.length, PAYMENTS, 'one payment per key');
    const expected = new Map([...told].map(([number, id]) => [id, [`ORDER-${number}`, String(1_000 + number)]]));
    for (const { id, referenceId, value } of rows) assert.deepEqual([referenceId, value], expected.get(id));
    const [sums] = await sql<{ payments: string; value: string }[]>`
      select sum(payments) as payments, sum(value) as value from (
        select payments, value from payment_stats union all select payments, value from payment_stat_changes) t`;
    const value = (PAYMENTS * (PAYMENTS - 1)) / 2 + 1_000 * PAYMENTS;
    assert.deepEqual(sums, { payments: String(PAYMENTS), value: String(value) }, 'and counted once');
    running.node.signal('SIGTERM');
    assert.equal(await running.node.ended, 0);
  });
});
