import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCoolOff } from '../../src/actions/parties/cool-off-destinations.ts';
import { finishAdvance } from '../../src/actions/test-clock.ts';
import { fanOutOnce } from '../../src/actions/webhooks/fan-out.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import { findClockShift } from '../../src/store/plumbing/sandbox-clock.ts';
import { createTestKey, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { startReceiver } from '../receiver.ts';
import { until } from '../until.ts';
import { openShop, type Shop } from './shop.ts';
import { newCourier, takeFanOut } from './webhook-scene.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const ASSET = 'eip155:1/slip44:60';
const accountOf = (digit: string) => `eip155:1:0x${digit.repeat(40)}`;

/** The chain of the sandbox, as far as its time is concerned. */
function createChainTime() {
  return {
    aheadMs: 0,
    moves: [] as number[],
    isAway: false,
    /** Fails from this call on. */
    failsAt: Number.POSITIVE_INFINITY,
    isFixed: false,
    async moveChain(aheadMs: number): Promise<boolean> {
      this.moves.push(aheadMs);
      if (this.isFixed) return false;
      if (this.isAway || this.moves.length >= this.failsAt) {
        throw new ChainUnavailableError('eip155:31337', 'it does not answer');
      }
      this.aheadMs = Math.max(this.aheadMs, aheadMs);
      return true;
    },
  };
}

describe('the clock of a sandbox', () => {
  const chain = createChainTime();
  let nodes: readonly [TestGateway, TestGateway];
  let shop: Shop;
  before(async () => {
    const input = {
      isOnDatabaseTime: true,
      isOnSandboxTime: true,
      config: { coolingOffHours: 24 },
      testClock: { moveChain: (aheadMs: number) => chain.moveChain(aheadMs) },
    };
    const first = await startTestGateway(input);
    nodes = [first, await startTestGateway({ ...input, databaseUrl: first.databaseUrl })];
    shop = await openShop(first);
  });
  after(async () => {
    await nodes[1].stop();
    await nodes[0].stop();
  });
  beforeEach(() => {
    Object.assign(chain, { isAway: false, isFixed: false, failsAt: Number.POSITIVE_INFINITY, moves: [] });
  });

  const advance = (body: unknown, { on = nodes[0], headers = {} }: { on?: TestGateway; headers?: object } = {}) =>
    on.call({
      method: 'POST',
      url: '/v1/test/clock',
      headers: { ...shop.headers, ...headers },
      payload: body as object,
    });
  const read = async (on = nodes[0]) => (await on.call({ url: '/v1/test/clock', headers: shop.headers })).json();
  const statusOn = async (on: TestGateway, id: string) =>
    (await on.call({ url: `/v1/payments/${id}/status`, headers: shop.headers })).json().status;

  it('brings the next attempt of a webhook forward, and stamps it with real time', async () => {
    const [node] = nodes;
    const receiver = await startReceiver();
    receiver.answerWith((_request, response) => void response.writeHead(500).end());
    const payload = { url: `${receiver.origin}/hook`, events: ['payment.created'] };
    await node.call({ method: 'POST', url: '/v1/webhook-endpoints', headers: shop.headers, payload });
    const lease = await takeFanOut(node);
    const courier = newCourier(node);
    await shop.created();
    const attempt = async () => {
      // The event may be placed later than those of the merchant.
      await fanOutOnce(node, lease);
      await courier.takeDue();
      await courier.idle();
      return receiver.received.length;
    };
    // The node's estimate of the database's time may be a moment behind the delivery's.
    await until('the first attempt', async () => (await attempt()) === 1);
    // In real time the fourth attempt would be six minutes away.
    for (const attempts of [2, 3, 4]) {
      await advance({ advanceMs: DAY_MS / 4 });
      await until('the node has the new time', async () => (await attempt()) === attempts);
    }
    const stampS = Number(receiver.received[3]?.headers['webhook-timestamp']);
    assert.ok(Math.abs(stampS - Date.now() / 1000) < DAY_MS / 8000, String(stampS));
    await receiver.stop();
  });

  it('moves expiries on every node within a second, and new payments begin at the new time', async () => {
    const { paymentId, expiresAt } = await shop.created();
    const before = await read();
    const moved = await advance({ advanceMs: 5 * MINUTE_MS });
    assert.equal(moved.statusCode, 200, moved.body);
    assert.equal(moved.json().aheadMs, before.aheadMs + 5 * MINUTE_MS);
    assert.equal(chain.aheadMs, moved.json().aheadMs);
    assert.equal(await statusOn(nodes[0], paymentId), 'expired');
    await until('the other node has noticed', async () => (await statusOn(nodes[1], paymentId)) === 'expired');
    const next = await shop.created();
    assert.ok(next.expiresAt >= expiresAt + 300, 'by the time of the sandbox');
    assert.equal(await statusOn(nodes[1], next.paymentId), 'requires_action');
  });

  it('is the time in the Date of every answer, by which pages correct their own clocks', async () => {
    const [node] = nodes;
    const { paymentId } = await shop.created({ expiresAt: Math.floor(Date.parse((await read()).now) / 1000) + 86_400 });
    const url = `/v1/payments/${paymentId}/status`;
    const held = node.call({ url: `${url}?maxPollMs=25000`, headers: shop.headers });
    await until('it is held', () => node.longPolls.held === 1);
    await advance({ advanceMs: 10 * MINUTE_MS });
    await shop.cancel(paymentId);
    const missing = { url: '/v1/payments/pay_0/status', headers: shop.headers };
    for (const answer of [await held, await node.call({ url, headers: shop.headers }), await node.call(missing)]) {
      const behindMs = node.world.clock.nowMs() - Date.parse(String(answer.headers.date));
      assert.ok(behindMs >= 0 && behindMs < MINUTE_MS, `${answer.headers.date}`);
    }
  });

  it('ends cooling-off periods', async () => {
    const url = `/v1/merchants/${shop.merchant.id}/settlements`;
    const headers = { ...shop.headers, 'idempotency-key': freshKey() };
    const payload = { settlements: [{ asset: ASSET, destination: accountOf('1') }] };
    const made = await nodes[0].call({ method: 'POST', url: `${url}/crypto`, headers, payload });
    const { id } = made.json().settlements[0];
    const changed = { destination: accountOf('2') };
    await nodes[0].call({ method: 'PUT', url: `${url}/crypto/${id}`, headers: shop.headers, payload: changed });
    const now = async () => (await nodes[0].call({ url, headers: shop.headers })).json().crypto[0];
    assert.deepEqual([(await now()).destination, (await now()).pendingDestination], [accountOf('1'), accountOf('2')]);
    await createCoolOff(nodes[0])();
    assert.equal((await now()).destination, accountOf('1'));
    await advance({ advanceMs: DAY_MS });
    await createCoolOff(nodes[0])();
    assert.equal((await now()).destination, accountOf('2'));
  });

  it('leaves held requests and rate limits in real time', async () => {
    const [gateway] = nodes;
    const { expiresAt } = await shop.created();
    const { paymentId } = await shop.created({ expiresAt: expiresAt + 86_400 });
    const held = gateway.call({ url: `/v1/payments/${paymentId}/status?maxPollMs=25000`, headers: shop.headers });
    await until('it is held', () => gateway.longPolls.held === 1);
    await advance({ advanceMs: MINUTE_MS });
    assert.equal(gateway.longPolls.held, 1, 'a minute of the sandbox is no minute of waiting');
    await shop.cancel(paymentId);
    assert.equal((await held).json().status, 'cancelled');
  });

  it('adds up requests at the same time on several nodes, and never goes back', async () => {
    const before = await read();
    const seen: number[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        seen.push(Date.parse((await read(nodes[1])).now));
        // The requests need no input, and would let nothing else run.
        await nextTurn();
      }
    })();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        advance({ advanceMs: 1_000 + index }, { on: nodes[index % 2] as TestGateway }),
      ),
    );
    isOver = true;
    await watching;
    const sum = answers.length * 1_000 + 66;
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      answers.map(() => 200),
    );
    assert.equal(new Set(answers.map((answer) => answer.json().aheadMs)).size, 12, 'each has its own place');
    assert.equal(Math.max(...answers.map((answer) => answer.json().aheadMs)), before.aheadMs + sum);
    assert.deepEqual(await findClockShift(nodes[0].db.sql), {
      wantedMs: before.aheadMs + sum,
      aheadMs: before.aheadMs + sum,
    });
    assert.equal(chain.aheadMs, before.aheadMs + sum);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
  });

  it('finishes a move that a crash cut off between the chain and the gateway, or before the chain', async () => {
    for (const failsAt of [2, 1]) {
      const before = await findClockShift(nodes[0].db.sql);
      Object.assign(chain, { moves: [], failsAt });
      const cut = await advance({ advanceMs: MINUTE_MS });
      assert.equal(cut.statusCode, 503, cut.body);
      const stored = await findClockShift(nodes[0].db.sql);
      assert.equal(stored.aheadMs, before.aheadMs, 'the gateway does not run ahead of the chain');
      // The first call only asks whether the chain answers. Without an answer nothing is stored.
      assert.equal(stored.wantedMs - before.wantedMs, failsAt === 1 ? 0 : MINUTE_MS);
      chain.failsAt = Number.POSITIVE_INFINITY;
      const testClock = { moveChain: (ms: number) => chain.moveChain(ms), refresh: async () => {} };
      await Promise.all(nodes.map((node) => finishAdvance({ ...node, testClock })));
      const { wantedMs, aheadMs } = await findClockShift(nodes[0].db.sql);
      assert.deepEqual([aheadMs, chain.aheadMs], [wantedMs, wantedMs]);
    }
  });

  it('moves once for each Idempotency-Key', async () => {
    const headers = { 'idempotency-key': freshKey() };
    const first = await advance({ advanceMs: 1_000 }, { headers });
    const again = await advance({ advanceMs: 1_000 }, { headers, on: nodes[1] });
    assert.deepEqual(again.json(), first.json());
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal((await findClockShift(nodes[0].db.sql)).wantedMs, first.json().aheadMs);
    assert.equal((await advance({ advanceMs: 2_000 }, { headers })).statusCode, 409);
  });

  it('is in the audit log', async () => {
    const { aheadMs } = (await advance({ advanceMs: 1_234 })).json();
    const [entry] = await nodes[0].db.sql<
      { actor: string; subject: string; detail: object; origin: { address: string } }[]
    >`
      select actor, subject, detail, origin from audit_log where action = 'clock.advanced' order by id desc limit 1`;
    assert.deepEqual(entry?.detail, { byMs: 1_234, aheadMs });
    assert.deepEqual([entry?.actor, entry?.subject], [`key:${shop.key.id}`, 'sandbox']);
    assert.equal(entry?.origin.address, '127.0.0.1');
  });

  it('refuses other amounts than 1 ms to 30 days, and more than ten years in all', async () => {
    const before = await findClockShift(nodes[0].db.sql);
    const bodies = [
      {},
      { advanceMs: 0 },
      { advanceMs: -1 },
      { advanceMs: 1.5 },
      { advanceMs: '60s' },
      { advanceMs: null },
    ];
    for (const body of [...bodies, { advanceMs: 30 * DAY_MS + 1 }, { advanceMs: 1, by: 2 }, []]) {
      const { statusCode, json } = await advance(body);
      assert.deepEqual([statusCode, json().code], [400, 'params_validation'], JSON.stringify(body));
    }
    assert.deepEqual(await findClockShift(nodes[0].db.sql), before);
    assert.equal((await advance({ advanceMs: 30 * DAY_MS })).statusCode, 200);
    await nodes[0].db
      .sql`update sandbox_clock set wanted_ms = ${3_650 * DAY_MS - 500}, ahead_ms = ${3_650 * DAY_MS - 500}`;
    const { statusCode, json } = await advance({ advanceMs: 501 });
    assert.deepEqual([statusCode, json().code], [400, 'invalid_state']);
    assert.equal((await advance({ advanceMs: 500 })).statusCode, 200);
  });

  it('stays where it is if the chain has a time of its own', async () => {
    const before = await findClockShift(nodes[0].db.sql);
    chain.isFixed = true;
    const { statusCode, json } = await advance({ advanceMs: 1 });
    assert.deepEqual([statusCode, json().code], [400, 'invalid_state']);
    assert.deepEqual(await findClockShift(nodes[0].db.sql), before);
  });

  it('is for test keys with the scope', async () => {
    const live = await createTestKey(nodes[0], shop.partner.id, { mode: 'live' });
    const unscoped = await createTestKey(nodes[0], shop.partner.id, { key: { scopes: ['payments:write'] } });
    for (const [key, code] of [
      [live, 'not_sandbox_api_key'],
      [unscoped, 'forbidden'],
    ] as const) {
      const headers = { 'api-key': key.secret };
      const moved = await nodes[0].call({ method: 'POST', url: '/v1/test/clock', headers, payload: { advanceMs: 1 } });
      assert.deepEqual([moved.statusCode, moved.json().code], [403, code]);
      const refused = await nodes[0].call({ url: '/v1/test/clock', headers });
      assert.deepEqual([refused.statusCode, refused.json().code], [403, code]);
    }
  });
});

describe('a gateway outside a sandbox', () => {
  it('has no clock to move, and does not read a stored shift', async () => {
    const gateway = await startTestGateway({ testClock: undefined, isOnDatabaseTime: true });
    try {
      const { headers } = await createTestPartner(gateway);
      // A row that somebody has written is of no use.
      await gateway.db.sql`insert into sandbox_clock (wanted_ms, ahead_ms) values (${DAY_MS}, ${DAY_MS})`;
      for (const mode of ['test', 'live'] as const) {
        const { headers: own } = await createTestPartner(gateway, { mode });
        const moved = await gateway.app.inject({
          method: 'POST',
          url: '/v1/test/clock',
          headers: own,
          payload: { advanceMs: 1 },
        });
        assert.deepEqual([moved.statusCode, moved.json().code], [404, 'invalid_params']);
      }
      assert.equal((await gateway.app.inject({ url: '/v1/test/clock', headers })).statusCode, 404);
      assert.doesNotMatch((await gateway.app.inject('/openapi.json')).body, /test\/clock/);
      assert.ok(Math.abs(gateway.world.clock.nowMs() - Date.now()) < DAY_MS / 2);
    } finally {
      await gateway.stop();
    }
  });
});
