import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connectTo, type TestConnection } from '../database.ts';
import {
  createTestApp,
  createTestPartner,
  startTestGateway,
  type TestGateway,
  type TestGatewayInput,
} from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { listen, openSocket, readAnswer } from '../sockets.ts';
import { until } from '../until.ts';
import { type Headers, happen, openShop, type Shop } from './shop.ts';

/** Far more than any test here takes: a request held this long is held until something lets it go. */
const LONG_MS = 25_000;
const CHECK_AGAIN_MS = 5_000;

interface Node {
  readonly gateway: TestGateway;
  readonly shop: Shop;
  readonly time: ManualTime;
  poll(id: string, options?: PollOptions): ReturnType<TestGateway['call']>;
  /** Waits until everything that could be on its way has arrived. */
  settle(): Promise<void>;
  /** Time passes, and what follows from that happens. */
  pass(ms: number): Promise<void>;
  /** Waits until this many requests are held. */
  holds(count: number): Promise<void>;
}

interface PollOptions {
  readonly maxPollMs?: number | string;
  readonly headers?: Headers;
  readonly remoteAddress?: string;
}

/** A node on which no time passes by itself: nothing but news of a change, or the test, ends a held request. */
async function startNode(input: TestGatewayInput & { shop?: Shop; time?: ManualTime } = {}): Promise<Node> {
  const { time = manualTime(), shop: given, ...rest } = input;
  const gateway = await startTestGateway({ ...rest, world: time });
  const shop = given ?? (await openShop(gateway));
  const poll: Node['poll'] = (id, { maxPollMs = LONG_MS, headers = {}, ...options } = {}) => {
    const query = maxPollMs === '' ? '' : `?maxPollMs=${maxPollMs}`;
    return gateway.call({
      url: `/v1/payments/${id}/status${query}`,
      headers: { ...shop.headers, ...headers },
      ...options,
    });
  };
  const settle = async () => {
    const { paymentId } = await shop.created();
    for (let round = 0; round < 3; round += 1) {
      await poll(paymentId, { maxPollMs: 0 });
      await nextTurn();
    }
  };
  return {
    gateway,
    shop,
    time,
    poll,
    settle,
    async pass(ms) {
      await time.advance(ms);
      await settle();
    },
    holds: (count) => until(`${count} held, not ${gateway.longPolls.held}`, () => gateway.longPolls.held === count),
  };
}

/** Knows whether the answer is there, without waiting for it. */
function watched<T>(promise: Promise<T>): { answer: Promise<T>; isThere: () => boolean } {
  let isThere = false;
  const answer = promise.finally(() => {
    isThere = true;
  });
  answer.catch(() => {});
  return { answer, isThere: () => isThere };
}

// A request that is held by mistake is held for ever here, so the bound is the test's own.
describe('a long-poll', () => {
  let node: Node;
  let gateway: TestGateway;
  let shop: Shop;
  before(async () => {
    node = await startNode();
    ({ gateway, shop } = node);
  });
  after(() => gateway.stop());

  it('is held until the status changes, on every status route', async () => {
    const { paymentId } = await shop.created();
    const urls = [`/v1/payments/${paymentId}`, `/v1/merchant/payment/${paymentId}`, `/v1/gateway/payment/${paymentId}`];
    const polls = urls.map((url) =>
      watched(gateway.call({ url: `${url}/status?maxPollMs=${LONG_MS}`, headers: shop.headers })),
    );
    await node.holds(3);
    await node.settle();
    assert.ok(polls.every(({ isThere }) => !isThere()));
    await shop.cancel(paymentId);
    for (const { answer } of polls) {
      const response = await answer;
      assert.equal(response.statusCode, 200);
      assert.deepEqual(response.json(), { status: 'cancelled', isFinal: true, pollInMs: null, info: null });
      assert.equal(response.headers.etag, '"cancelled"');
    }
    await node.holds(0);
  });

  it('sees every change of a payment, one after the other', async () => {
    const { paymentId } = await shop.created();
    for (const [event, status] of [
      ['confirmed', 'processing'],
      ['succeeded', 'succeeded'],
    ] as const) {
      const poll = node.poll(paymentId);
      await node.holds(1);
      await happen(gateway, paymentId, event);
      assert.equal((await poll).json().status, status);
    }
  });

  it('is woken by its own payment alone', async () => {
    const [mine, other] = [await shop.created(), await shop.created()];
    const poll = watched(node.poll(mine.paymentId));
    await node.holds(1);
    await shop.cancel(other.paymentId);
    await node.settle();
    assert.ok(!poll.isThere());
    await shop.cancel(mine.paymentId);
    await poll.answer;
  });

  it('answers at once when nothing is to be waited for', async () => {
    const { paymentId } = await shop.created();
    for (const maxPollMs of ['', 0, '0', '-0', 'null']) {
      assert.equal((await node.poll(paymentId, { maxPollMs })).json().status, 'requires_action');
    }
    const empty = { url: `/v1/payments/${paymentId}/status?maxPollMs=`, headers: shop.headers };
    assert.equal((await gateway.call(empty)).json().status, 'requires_action');
    await shop.cancel(paymentId);
    assert.equal((await node.poll(paymentId)).json().status, 'cancelled', 'a final status never changes');
    const overdue = await shop.created({ expiresAt: node.time.clock.nowMs() / 1000 + 60 });
    await node.pass(60_000);
    assert.equal(
      (await node.poll(overdue.paymentId)).json().status,
      'expired',
      'nor does one that the clock made final',
    );
    assert.equal(gateway.longPolls.held, 0);
  });

  it('answers with the state as it is when its time is over', async () => {
    const { paymentId } = await shop.created();
    const poll = watched(node.poll(paymentId, { maxPollMs: 3_000 }));
    await node.holds(1);
    await node.pass(2_900);
    assert.ok(!poll.isThere());
    await node.pass(100);
    const response = await poll.answer;
    assert.deepEqual(response.json(), { status: 'requires_action', isFinal: false, pollInMs: 1000, info: null });
  });

  for (const maxPollMs of [LONG_MS, LONG_MS + 1, 60_000, 999_999_999_999_999]) {
    it(`of ${maxPollMs} ms is held for 25 s`, async () => {
      const { paymentId } = await shop.created({ expiresAt: node.time.clock.nowMs() / 1000 + 3600 });
      const poll = watched(node.poll(paymentId, { maxPollMs }));
      await node.holds(1);
      for (const ms of [6_000, 6_000, 6_000, 6_900]) await node.pass(ms);
      assert.ok(!poll.isThere());
      await node.pass(100);
      assert.equal((await poll.answer).json().status, 'requires_action');
    });
  }

  it('ends in the second the payment expires, before the sweeper ran', async () => {
    const expiresAt = node.time.clock.nowMs() / 1000 + 7;
    const [plain, native] = [await shop.created({ expiresAt }), await shop.created({ expiresAt })];
    await gateway.db.sql`
      update payments set native_deadline = ${new Date(expiresAt * 1000)} where id = ${native.paymentId}`;
    const polls = [watched(node.poll(plain.paymentId)), watched(node.poll(native.paymentId))];
    await node.holds(2);
    for (const ms of [5_000, 1_900]) await node.pass(ms);
    assert.ok(polls.every(({ isThere }) => !isThere()));
    await node.pass(100);
    const statuses = await Promise.all(polls.map(async ({ answer }) => (await answer).json().status));
    assert.deepEqual(statuses, ['expired', 'processing'], 'a native payment is still being found out about');
    const rows = await gateway.db.sql`select status from payments where id = ${plain.paymentId}`;
    assert.equal(rows[0]?.status, 'requires_action');
  });

  describe('with If-None-Match', () => {
    it('answers 304 without a body while the status is the one the client knows', async () => {
      const { paymentId } = await shop.created();
      const first = await node.poll(paymentId, { maxPollMs: 0 });
      const etag = String(first.headers.etag);
      assert.equal(etag, '"requires_action"');
      for (const tag of [etag, `W/${etag}`, `"processing", ${etag}`, `"x",W/${etag}`, '*']) {
        const same = await node.poll(paymentId, { maxPollMs: 0, headers: { 'if-none-match': tag } });
        assert.equal(same.statusCode, 304, tag);
        assert.equal(same.body, '');
        assert.equal(same.headers.etag, etag);
      }
      for (const tag of ['"processing"', '"x", "y"', 'requires_action', '']) {
        const other = await node.poll(paymentId, { maxPollMs: 0, headers: { 'if-none-match': tag } });
        assert.equal(other.statusCode, 200, tag);
        assert.equal(other.json().status, 'requires_action');
      }
    });

    it('is held while the status is the one the client knows, and answers 304 when the time is over', async () => {
      const { paymentId } = await shop.created();
      for (const tag of ['"requires_action"', 'W/"requires_action"']) {
        const poll = watched(node.poll(paymentId, { maxPollMs: 1_000, headers: { 'if-none-match': tag } }));
        await node.holds(1);
        await node.pass(900);
        assert.ok(!poll.isThere(), tag);
        await node.pass(100);
        assert.equal((await poll.answer).statusCode, 304);
      }
      const poll = node.poll(paymentId, { headers: { 'if-none-match': '"requires_action"' } });
      await node.holds(1);
      await happen(gateway, paymentId, 'confirmed');
      const changed = await poll;
      assert.deepEqual(
        [changed.statusCode, changed.json().status, changed.headers.etag],
        [200, 'processing', '"processing"'],
      );
    });

    it('never sleeps through a change between two polls', async () => {
      const { paymentId } = await shop.created();
      const first = await node.poll(paymentId, { maxPollMs: 0 });
      await happen(gateway, paymentId, 'confirmed');
      const next = await node.poll(paymentId, { headers: { 'if-none-match': String(first.headers.etag) } });
      assert.equal(next.json().status, 'processing');

      const due = await shop.created({ expiresAt: node.time.clock.nowMs() / 1000 + 60 });
      await node.pass(60_000);
      const late = await node.poll(due.paymentId, { headers: { 'if-none-match': '"requires_action"' } });
      assert.equal(late.json().status, 'expired');
      const again = await node.poll(due.paymentId, { headers: { 'if-none-match': '"expired"' } });
      assert.equal(again.statusCode, 304, 'nothing will ever change');
    });
  });

  it('never sleeps through a change that comes while it reads', async () => {
    const withheld = withholdReads(gateway);
    const { paymentId } = await shop.created();
    let news = 0;
    gateway.feed.subscribe((ids) => {
      if (ids?.includes(paymentId)) news += 1;
    });
    const announce = () => gateway.db.sql`select pg_notify('till_events', ${paymentId})`;
    const allNews = (count: number) => until(`${count} times news`, () => news === count);
    try {
      withheld.start();
      const poll = watched(node.poll(paymentId));
      await withheld.reads(1);
      await announce();
      await allNews(1);
      withheld.stop();
      await node.holds(1);
      await node.settle();
      assert.ok(!poll.isThere(), 'news of nothing changes nothing');

      withheld.start();
      await announce();
      await withheld.reads(1);
      await happen(gateway, paymentId, 'confirmed');
      await allNews(3);
      withheld.stop();
      assert.equal((await poll.answer).json().status, 'processing');

      withheld.start();
      const last = node.poll(paymentId);
      await withheld.reads(1);
      await happen(gateway, paymentId, 'succeeded');
      await allNews(4);
      withheld.stop();
      assert.equal((await last).json().status, 'succeeded');
    } finally {
      withheld.end();
    }
  });

  describe('over a real connection', () => {
    let port: number;
    before(async () => {
      port = await listen(gateway);
    });
    const send = async (id: string): Promise<Socket> => {
      const socket = await openSocket(port);
      const headers = Object.entries(shop.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `GET /v1/payments/${id}/status?maxPollMs=${LONG_MS} HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`,
      );
      return socket;
    };
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        gateway.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );

    it('ends when the client hangs up, and frees everything', async () => {
      const { paymentId } = await shop.created();
      const sockets = await Promise.all(Array.from({ length: 30 }, () => send(paymentId)));
      await node.holds(30);
      for (const socket of sockets.slice(0, 15)) socket.destroy();
      await node.holds(15);
      for (const socket of sockets) socket.destroy();
      await node.holds(0);
      await until('no connection is left', async () => (await connections()) === 0);
    });

    it('is not held at all when the client hung up while it was read', async () => {
      const withheld = withholdReads(gateway);
      try {
        const { paymentId } = await shop.created();
        withheld.start();
        const socket = await send(paymentId);
        await withheld.reads(1);
        socket.destroy();
        await until('the server has seen it', async () => (await connections()) === 0);
        withheld.stop();
        await node.settle();
        assert.equal(gateway.longPolls.held, 0);
      } finally {
        withheld.end();
      }
    });
  });

  describe('on one of two nodes', () => {
    let other: Node;
    before(async () => {
      other = await startNode({ databaseUrl: gateway.databaseUrl, shop, time: node.time });
    });
    after(() => other.gateway.stop());

    it('ends when the other one cancels', async () => {
      const { paymentId } = await shop.created();
      const poll = node.poll(paymentId);
      await node.holds(1);
      assert.equal((await shop.cancel(paymentId, shop.headers, other.gateway)).statusCode, 200);
      assert.equal((await poll).json().status, 'cancelled');
    });

    it('ends for everybody when hundreds change at once on the other', async () => {
      const payments = await Promise.all(Array.from({ length: 400 }, () => shop.created()));
      const polls = payments.map(({ paymentId }) => node.poll(paymentId));
      await node.holds(400);
      await Promise.all(payments.map(({ paymentId }) => happen(other.gateway, paymentId, 'confirmed')));
      for (const poll of polls) assert.equal((await poll).json().status, 'processing');
    });

    it('ends within five seconds when the news was lost', async () => {
      const { paymentId } = await shop.created();
      const poll = watched(node.poll(paymentId));
      await node.holds(1);
      // The request has read its payment by then.
      await node.settle();
      // As another node would that dies before its event is placed.
      await gateway.db.sql`update payments set status = 'processing', version = 1 where id = ${paymentId}`;
      await node.pass(CHECK_AGAIN_MS - 100);
      assert.ok(!poll.isThere());
      await node.pass(100);
      assert.equal((await poll.answer).json().status, 'processing');
    });
  });

  describe('when the connection that brings the news breaks', () => {
    let admin: TestConnection;
    before(() => {
      admin = connectTo(Object.assign(new URL(gateway.databaseUrl), { pathname: '/postgres' }).href);
    });
    after(() => admin.end());
    const name = () => new URL(gateway.databaseUrl).pathname.slice(1);
    const listeners = () => admin<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = ${name()} and query ilike 'listen %'`;
    const hangUp = async () => {
      const [listener, ...others] = await listeners();
      assert.ok(listener !== undefined && others.length === 0);
      await admin`select pg_terminate_backend(${listener.pid})`;
      return listener.pid;
    };

    it('asks the database as soon as there is a new one, and is notified from then on', async () => {
      const [first, second] = [await shop.created(), await shop.created()];
      const polls = [node.poll(first.paymentId), node.poll(second.paymentId)] as const;
      await node.holds(2);
      await node.settle();
      // As another node would, whose news went unheard.
      await gateway.db.sql`update payments set status = 'cancelled', version = 1 where id = ${first.paymentId}`;
      await node.settle();
      assert.equal(gateway.longPolls.held, 2);
      const old = await hangUp();
      assert.equal((await polls[0]).json().status, 'cancelled');
      await until('another connection listens', async () => (await listeners()).some(({ pid }) => pid !== old));
      // Nothing but a message over the new connection can tell of this one.
      await gateway.db.sql`update payments set status = 'cancelled', version = 1 where id = ${second.paymentId}`;
      await gateway.db.sql`select pg_notify('till_events', ${second.paymentId})`;
      assert.equal((await polls[1]).json().status, 'cancelled');
    });

    it('comes back by itself after an outage', async () => {
      const { paymentId } = await shop.created();
      const poll = watched(node.poll(paymentId));
      await node.holds(1);
      await admin.unsafe(`alter database ${name()} with allow_connections false`);
      try {
        await hangUp();
        await until('nobody listens', async () => (await listeners()).length === 0);
        await gateway.db.sql`update payments set status = 'cancelled', version = 1 where id = ${paymentId}`;
        await nextTurn();
        assert.ok(!poll.isThere());
      } finally {
        await admin.unsafe(`alter database ${name()} with allow_connections true`);
      }
      assert.equal((await poll.answer).json().status, 'cancelled');
    });
  });
});

describe('held requests', () => {
  it('are answered with the state of the moment when the node stops, all of them', async () => {
    const node = await startNode();
    const { gateway, shop } = node;
    const port = await listen(gateway);
    const payments = await Promise.all(Array.from({ length: 60 }, () => shop.created()));
    const sockets = await Promise.all(payments.map(() => openSocket(port)));
    const answers = sockets.map((socket) => readAnswer(socket));
    for (const [index, socket] of sockets.entries()) {
      const headers = Object.entries(shop.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `GET /v1/payments/${payments[index]?.paymentId}/status?maxPollMs=${LONG_MS} HTTP/1.1\r\nHost: x\r\n${headers.join('')}\r\n`,
      );
    }
    await node.holds(60);
    const quiet = payments.slice(0, 20).map(({ paymentId }) => paymentId);
    await gateway.db.sql`update payments set status = 'cancelled', version = 1 where id = any(${quiet}::text[])`;
    const stopped = gateway.app.close();
    const statuses = (await Promise.all(answers)).map((answer) => {
      assert.equal(answer?.status, 200);
      assert.equal(answer.headers.connection, 'close', 'or the client’s idle connection would hold up the stop');
      return JSON.parse(answer.body).status as string;
    });
    assert.deepEqual(statuses, [...Array(20).fill('cancelled'), ...Array(40).fill('requires_action')]);
    await stopped;
    assert.equal(gateway.longPolls.held, 0);
    await assert.rejects(openSocket(port), { code: 'ECONNREFUSED' });
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
  });

  it('are counted per key: one more than its budget is refused, until a place is free', async () => {
    const node = await startNode({ config: { heldPerKey: 3 } });
    const { gateway, shop } = node;
    const payments = await Promise.all(Array.from({ length: 3 }, () => shop.created()));
    const polls = payments.map(({ paymentId }) => node.poll(paymentId));
    await node.holds(3);
    const [first] = payments;
    const id = first?.paymentId ?? '';
    for (const remoteAddress of ['203.0.113.1', '203.0.113.2']) {
      const refused = await node.poll(id, { remoteAddress });
      assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited']);
      assert.equal(refused.headers['ratelimit-policy'], '"holds";q=3;qu="concurrent-requests"');
      assert.equal(refused.headers.ratelimit, '"holds";r=0;t=1');
      assert.equal(refused.headers['retry-after'], '1');
    }
    assert.equal((await node.poll(id, { maxPollMs: 0 })).statusCode, 200, 'what is not held needs no place');
    const stale = await node.poll(id, { headers: { 'if-none-match': '"processing"' } });
    assert.equal(stale.statusCode, 200, 'nor does what is answered at once');
    const { headers } = await createTestPartner(gateway);
    const stranger = gateway.call({ url: `/v1/gateway/payment/${id}/status?maxPollMs=${LONG_MS}`, headers });
    await node.holds(4);
    assert.match(await gateway.metrics.registry.metrics(), /till_http_refusals_total\{reason="rate_limited"\} 2/);

    await shop.cancel(id);
    assert.equal((await node.poll(id)).statusCode, 200);
    await Promise.all([polls[0], stranger]);
    const another = await shop.created();
    const last = node.poll(another.paymentId);
    await node.holds(3);
    gateway.longPolls.release();
    await Promise.all([...polls, last]);
    await gateway.stop();
  });

  it('are counted per address for wallets without a key', async () => {
    const node = await startNode({ config: { heldPerKey: 1, heldPerAddress: 2 } });
    const { gateway, shop } = node;
    const { paymentId } = await shop.created();
    const headers = { 'app-id': (await createTestApp(gateway)).id, 'client-id': 'x' };
    const from = (remoteAddress: string) =>
      gateway.call({ url: `/v1/gateway/payment/${paymentId}/status?maxPollMs=${LONG_MS}`, headers, remoteAddress });
    const polls = [from('203.0.113.1'), from('2001:db8::1'), from('203.0.113.1'), from('2001:db8::2')];
    await node.holds(4);
    for (const address of ['203.0.113.1', '::ffff:203.0.113.1', '2001:db8::3']) {
      const refused = await from(address);
      assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited'], address);
      assert.equal(refused.headers['ratelimit-policy'], '"holds";q=2;qu="concurrent-requests"');
    }
    polls.push(from('203.0.113.2'), node.poll(paymentId));
    await node.holds(6);
    await shop.cancel(paymentId);
    for (const poll of polls) assert.equal((await poll).json().status, 'cancelled');
    await gateway.stop();
  });
});

/** Lets reads of payments reach the database, and keeps back what they bring until told otherwise. */
function withholdReads({ db }: TestGateway) {
  const { sql } = db;
  let gate: { count: number; promise: Promise<void>; open: () => void } | undefined;
  const held = new Proxy(sql, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(target, self, args);
      if (gate === undefined || !/from payments where id = any/.test(args[0]?.join?.('') ?? '')) return query;
      const { promise } = gate;
      const rows = Promise.resolve(query).then((found) => {
        if (gate?.promise === promise) gate.count += 1;
        return found;
      });
      return promise.then(() => rows);
    },
  });
  Object.defineProperty(db, 'sql', { value: held, configurable: true });
  return {
    start() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { count: 0, promise, open: resolve };
    },
    /** Waits until this many reads have seen the database. */
    reads: (count: number) => until(`${count} reads`, () => (gate?.count ?? 0) >= count),
    stop() {
      gate?.open();
      gate = undefined;
    },
    end() {
      this.stop();
      Object.defineProperty(db, 'sql', { value: sql, configurable: true });
    },
  };
}
