import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { connectTo, createEmptyDatabase, createTestDatabase } from '../database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import { listen, openSocket, readAnswers } from '../sockets.ts';
import { startTcpProxy } from '../tcp-proxy.ts';
import { until } from '../until.ts';

const SHOP = { merchantName: 'Shop', merchantEmail: 'shop@example.com' };

/** The longest time from SIGTERM to the end of a node. */
const STOP = { withinMs: 10_000 };

/** Ends within the bound, or the test fails. */
async function endOf(node: NodeProcess, { withinMs = 90_000 } = {}): Promise<number | NodeJS.Signals | null> {
  let end: number | NodeJS.Signals | null | undefined;
  void node.ended.then((how) => {
    end = how;
  });
  await until('the process ends', () => end !== undefined, { withinMs });
  return end ?? null;
}

describe('a node', { concurrency: true }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-nodes-'));
  });
  const started: NodeProcess[] = [];
  async function start(settings: Parameters<typeof startNodeProcess>[0]): Promise<NodeProcess> {
    const node = await startNodeProcess(settings);
    started.push(node);
    return node;
  }
  after(async () => {
    // No process is left behind, also after a failure.
    for (const node of started) node.signal('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    await rm(folder, { recursive: true, force: true });
  });
  let homes = 0;
  /** A folder that is not there yet. */
  const newHome = () => {
    homes += 1;
    return join(folder, `home-${homes}`);
  };

  it(
    'starts together with others on one empty database, works with them, and stops on a signal',
    ONLY_LONG,
    async () => {
      const database = await createEmptyDatabase();
      const chain = await startSandboxChain(
        { world: systemWorld, log: pino({ level: 'silent' }) },
        { dir: join(folder, 'chain'), blockMs: 100 },
      );
      const TILL_SECRET = randomBytes(32).toString('base64');
      const settings = { DATABASE_URL: database.url, RPC_URLS: `eip155:31337=${chain.rpcUrl}`, TILL_SECRET };
      const nodes = await Promise.all(Array.from({ length: 3 }, () => start({ TILL_HOME: newHome(), ...settings })));
      const sandboxes = await Promise.all(nodes.map((node) => node.ready()));
      const sql = connectTo(database.url);
      const files = await readdir(join(import.meta.dirname, '../../migrations'));
      const applied = await sql`select name from migrations order by id`;
      assert.deepEqual(
        applied.map(({ name }) => name),
        files.sort(),
      );
      assert.equal((await sql`select 1 from partners`).length, 1, 'one demo partner for all');

      for (const [index, { apiKey, merchantId }] of sandboxes.entries()) {
        const elsewhere = nodes[(index + 1) % nodes.length];
        const answer = await fetch(`${elsewhere?.baseUrl}/v1/merchants/${merchantId}`, {
          headers: { 'Api-Key': apiKey },
        });
        assert.equal(answer.status, 200, 'what one node tells is true on the next');
      }

      // One request is held in the middle while its node is told to stop.
      const [busy, ...idle] = nodes;
      const holder = connectTo(database.url);
      await holder`begin`;
      await holder`lock table audit_log in share mode`;
      const held = fetch(`${busy?.baseUrl}/v1/merchants`, {
        method: 'POST',
        headers: {
          'Api-Key': sandboxes[0]?.apiKey ?? '',
          'Idempotency-Key': freshKey(),
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(SHOP),
      });
      await until('the request waits', async () => {
        const waiting =
          await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return waiting.length > 0;
      });
      for (const node of nodes) node.signal('SIGTERM');
      for (const node of idle) assert.equal(await endOf(node, STOP), 0, node.output());
      await assert.rejects(fetch(`${busy?.baseUrl}/health`), 'no new connection is taken');
      await holder`rollback`;
      await holder.end();
      assert.equal((await held).status, 201, 'what was in flight is finished');
      assert.ok(busy);
      assert.equal(await endOf(busy, STOP), 0, busy.output());
      await chain.stop();
      await sql.end();
      await database.drop();
    },
  );

  it('refuses a database that a newer version has migrated', ONLY_LONG, async () => {
    const database = await createTestDatabase();
    const sql = connectTo(database.url);
    await sql`insert into migrations (id, name, sha256) values (9999, '9999_tomorrow.sql', 'x')`;
    const node = await start({ TILL_HOME: newHome(), DATABASE_URL: database.url, SANDBOX: '1' });
    assert.equal(await endOf(node), 1);
    assert.match(node.output(), /cannot start: .*newer version of Till \(it has 9999_tomorrow\.sql\)/);
    assert.doesNotMatch(node.output(), /\bat .*\.ts:\d+/, 'a sentence, not a stack');
    await sql.end();
    await database.drop();
  });

  it('refuses files of networks that change what the database was used with, all of them at once', async () => {
    const database = await createTestDatabase();
    const sql = connectTo(database.url);
    const network = { name: 'Own', mode: 'test', coin: 'eip155:777777/slip44:60', coinSymbol: 'OWN', coinDecimals: 18 };
    await sql`
      insert into known_records (subject, facts, at)
      values ('eip155:777777', ${sql.json({ ...network, genesis: null })}, now()),
        ('eip155:777777/erc20:0x5FbDB2315678afecb367f032d93F642f64180aa3',
          ${sql.json({ name: 'Own dollar', symbol: 'USDO', decimals: 6, peg: 'USD' })}, now())`;
    const networks = join(folder, 'networks');
    await mkdir(networks);
    const coin = { symbol: 'OWN', name: 'Own coin', decimals: 18, slip44: 61 };
    const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
    const token = { address, symbol: 'USDO', name: 'Own dollar', decimals: 18, peg: 'USD' };
    const record = { id: 'eip155:777777', name: 'Own', mode: 'test', coin, tokens: [token] };
    await writeFile(join(networks, 'own.json'), JSON.stringify(record));
    const node = await start({
      TILL_HOME: newHome(),
      DATABASE_URL: database.url,
      SANDBOX: '1',
      NETWORKS_DIR: networks,
    });
    assert.equal(await endOf(node), 1);
    const refusal =
      /^Till cannot start: the networks and tokens differ from those that this database was used with:\n {2}\S*own\.json:1:\d+ coin\.slip44 is 61, and the database remembers 60 .*\n {2}\S*own\.json:1:\d+ tokens\[0\]\.decimals is 18, and the database remembers 6 .* till networks accept /m;
    assert.match(node.output(), refusal);
    assert.doesNotMatch(node.output(), /\bat .*\.ts:\d+/, 'sentences, not a stack');
    assert.equal((await sql`select 1 from known_records`).length, 2, 'nothing was written');
    await sql.end();
    await database.drop();
  });

  it('reports all problems of its configuration at once, and no secrets', async () => {
    const node = await start({
      TILL_HOME: newHome(),
      PORT: '99999',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://user:hunter2@db/till',
      TRUST_PROXY: '10.0.0.0/99',
      PUBLIC_URL: 'https://pay.example.com/path',
      ROLES: 'api,miner',
    });
    assert.equal(await endOf(node), 2);
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'TRUST_PROXY', 'PUBLIC_URL']) {
      assert.match(node.output(), new RegExp(`^ +${name} must`, 'm'));
    }
    assert.match(node.output(), /^ +ROLES must list names of roles: api, relay, watch, jobs/m);
    assert.doesNotMatch(node.output(), /hunter2/);
  });

  it(
    'brings no sandbox into a database unless it is asked for, and names settings that look misspelt',
    ONLY_LONG,
    async () => {
      const database = await createEmptyDatabase();
      const node = await start({
        TILL_HOME: newHome(),
        DATABASE_URL: database.url,
        RPC_URL: 'eip155:1=https://hunter2',
      });
      assert.equal(await endOf(node), 2);
      assert.match(node.output(), /^ +RPC_URLS must name the networks .* set SANDBOX=1$/m);
      assert.match(node.output(), /^ +RPC_URL is not a setting of Till. Did you mean RPC_URLS\?$/m);
      assert.doesNotMatch(node.output(), /hunter2/);
      const sql = connectTo(database.url);
      const tables = await sql`select 1 from pg_tables where schemaname = 'public'`;
      assert.equal(tables.length, 0, 'the database is as it was');
      await sql.end();
      await database.drop();
    },
  );

  it('says so when its database cannot be reached', ONLY_LONG, async () => {
    const unreachable = await start({
      TILL_HOME: newHome(),
      DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x',
      SANDBOX: '1',
    });
    assert.equal(await endOf(unreachable), 1);
    const line =
      /^Till cannot start: The database is out of reach \(.*ECONNREFUSED.*\)\. See that the server runs, .*\.$/m;
    assert.match(unreachable.output(), line);
    assert.doesNotMatch(unreachable.output(), /hunter2|\bat .*\.ts:\d+/, 'a sentence, not a stack');
  });

  it(
    'with a database of its own keeps its folder to itself, survives kill -9 and leaves nothing running',
    ONLY_LONG,
    async () => {
      const home = newHome();
      const first = await start({ TILL_HOME: home });
      const { apiKey, merchantId } = await first.ready();
      const line = /curl (\S+) -H 'Api-Key: (\S+)'/.exec(first.output());
      assert.ok(line, 'the banner has a line to paste');
      const pasted = await fetch(line[1]?.replace('localhost', '127.0.0.1') ?? '', {
        headers: { 'Api-Key': line[2] ?? '' },
      });
      assert.equal(pasted.status, 200);

      const second = await start({ TILL_HOME: home });
      assert.equal(await endOf(second), 1);
      assert.match(second.output(), new RegExp(`in use by another gateway \\(process ${first.pid}\\)`));
      assert.match(second.output(), /TILL_HOME/);

      const renamed = await fetch(`${first.baseUrl}/v1/merchants/${merchantId}`, {
        method: 'PATCH',
        headers: { 'Api-Key': apiKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ merchantName: 'Still here' }),
      });
      assert.equal(renamed.status, 200);
      first.signal('SIGKILL');
      assert.equal(await endOf(first), 'SIGKILL');

      const again = await start({ TILL_HOME: home });
      const sandbox = await again.ready();
      assert.deepEqual([sandbox.apiKey, sandbox.merchantId], [apiKey, merchantId], 'the same ones at every start');
      const kept = await fetch(`${again.baseUrl}/v1/merchants/${merchantId}`, { headers: { 'Api-Key': apiKey } });
      assert.equal(((await kept.json()) as { merchant: { name: string } }).merchant.name, 'Still here');
      const { pid } = JSON.parse(await readFile(join(home, 'postgres', 'connection.json'), 'utf8'));
      again.signal('SIGTERM');
      assert.equal(await endOf(again, STOP), 0);
      assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }, 'PostgreSQL has ended too');
    },
  );
});

describe('a node that loses its database', { concurrency: true }, () => {
  it('answers 503 for as long as that lasts, and recovers by itself', ONLY_LONG, async () => {
    const database = await createTestDatabase();
    const proxy = await startTcpProxy(database.url);
    const admin = connectTo(database.url);
    const gateway = await startTestGateway({ databaseUrl: proxy.url });
    const { headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    const read = () => gateway.call({ url: `/v1/merchants/${id}`, headers });
    const write = () =>
      gateway.call({
        method: 'POST',
        url: '/v1/merchants',
        headers: { ...headers, 'idempotency-key': freshKey() },
        payload: SHOP,
      });

    for (let outage = 0; outage < 2; outage += 1) {
      assert.equal((await read()).statusCode, 200);
      const inFlight = Promise.all(Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? read() : write())));
      await proxy.cut();
      // Others keep calling, as they do in an outage.
      let isOver = false;
      void inFlight.finally(() => {
        isOver = true;
      });
      await until('all requests are answered', async () => {
        for (const response of await Promise.all([read(), write(), read(), write()])) {
          assert.deepEqual([response.statusCode, response.json().code], [503, 'internal_error']);
          assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
          assert.ok(response.headers['request-id']);
          assert.doesNotMatch(response.body, /ECONN|postgres|127\.0\.0\.1/);
        }
        return isOver;
      });
      for (const { statusCode, body } of await inFlight) assert.ok([200, 201, 503].includes(statusCode), body);
      const ready = await gateway.call({ url: '/ready' });
      assert.equal(ready.statusCode, 503);
      assert.equal(ready.json().ready, false);
      assert.equal((await gateway.call({ url: '/health' })).statusCode, 200, 'it is alive all the same');

      await proxy.restore();
      await until('the node is back', async () => (await read()).statusCode === 200);
      // On a busy machine the connections take a while to come back.
      await until('all requests succeed', async () => {
        const all = await Promise.all(Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? read() : write())));
        return all.every(({ statusCode }) => statusCode === 200 || statusCode === 201);
      });
      assert.equal((await gateway.call({ url: '/ready' })).statusCode, 200);
      const listening = () => admin`
        select 1 from pg_stat_activity where datname = current_database() and query ilike 'listen%'`;
      await until('the node hears the others again', async () => (await listening()).length > 0);
    }
    await admin.end();
    await gateway.stop();
    await proxy.cut();
    await database.drop();
  });

  it('continues after its connections break for a moment, and answers every request', ONLY_LONG, async () => {
    const database = await createTestDatabase();
    const proxy = await startTcpProxy(database.url);
    const gateway = await startTestGateway({ databaseUrl: proxy.url });
    const { headers } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, headers);
    const keys: string[] = [];
    const write = (key: string) =>
      gateway.call({
        method: 'POST',
        url: '/v1/merchants',
        headers: { ...headers, 'idempotency-key': key },
        payload: SHOP,
      });
    // A client that reads, and after every answer reads or writes again.
    const client = async (until: () => boolean) => {
      while (!until()) {
        const read = await gateway.call({ url: `/v1/merchants/${id}`, headers });
        assert.ok([200, 503].includes(read.statusCode), read.body);
        const key = freshKey();
        keys.push(key);
        assert.ok([201, 503].includes((await write(key)).statusCode));
      }
    };
    let isOver = false;
    const clients = Promise.all(Array.from({ length: 20 }, () => client(() => isOver)));
    for (let times = 0; times < 5; times += 1) {
      const before = keys.length;
      await until('requests are answered', () => keys.length > before + 30);
      proxy.reset();
    }
    isOver = true;
    await clients;
    const created = new Set<string>();
    await until('no key is stuck', async () => {
      for (const key of keys) if (!created.has(key) && (await write(key)).statusCode === 201) created.add(key);
      return created.size === keys.length;
    });
    const list = await gateway.call({ url: '/v1/merchants', headers });
    assert.equal(list.json().totalCount, keys.length + 1, 'and each made one merchant');
    await gateway.stop();
    await proxy.cut();
    await database.drop();
  });

  it('answers 503 while the database takes no connections', async () => {
    const database = await createTestDatabase();
    const gateway = await startTestGateway({ databaseUrl: database.url });
    const { headers } = await createTestPartner(gateway);
    const list = () => gateway.call({ url: '/v1/merchants', headers });
    assert.equal((await list()).statusCode, 200);
    const name = new URL(database.url).pathname.slice(1);
    const admin = connectTo(Object.assign(new URL(database.url), { pathname: '/postgres' }).href);
    await admin.unsafe(`alter database ${name} allow_connections false`);
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    await until('the node notices', async () => (await list()).statusCode !== 200);
    for (let count = 0; count < 5; count += 1) {
      const response = await list();
      assert.deepEqual([response.statusCode, response.json().code], [503, 'internal_error']);
      assert.equal(response.headers['retry-after'], '1');
    }
    await admin.unsafe(`alter database ${name} allow_connections true`);
    await until('the node is back', async () => (await list()).statusCode === 200);
    await admin.end();
    await gateway.stop();
    await database.drop();
  });
});

describe('a busy node', () => {
  it('sheds load before it is overloaded, reports it to monitors, and recovers', async () => {
    const gateway = await startTestGateway({ config: { maxEventLoopDelayMs: 50 } });
    const { headers } = await createTestPartner(gateway);
    const list = () => gateway.call({ url: '/v1/merchants', headers });
    const block = (ms: number) => {
      for (const endMs = performance.now() + ms; performance.now() < endMs; );
    };
    await until('a request is turned away', async () => {
      block(300);
      const [response, health] = await Promise.all([list(), gateway.call({ url: '/health' })]);
      assert.equal(health.statusCode, 200);
      if (response.statusCode === 200) return false;
      assert.deepEqual([response.statusCode, response.json().code], [503, 'internal_error']);
      assert.equal(response.headers['retry-after'], '1');
      assert.ok(response.headers['request-id']);
      return true;
    });
    await until('requests are taken again', async () => (await list()).statusCode === 200);
    assert.match(await gateway.metrics.registry.metrics(), /till_http_refusals_total\{reason="overloaded"\} [1-9]/);
    await gateway.stop();
  });
});

describe('a node that stops', () => {
  it('finishes requests in flight and refuses later ones on the same connection with an error', async () => {
    const gateway = await startTestGateway();
    const { secret } = await createTestPartner(gateway);
    const port = await listen(gateway);
    const [sql, holder] = [connectTo(gateway.databaseUrl), connectTo(gateway.databaseUrl)];
    await holder`begin`;
    await holder`lock table audit_log in share mode`;
    const head = `HTTP/1.1\r\nHost: localhost\r\nApi-Key: ${secret}\r\n`;
    const body = JSON.stringify(SHOP);
    const socket = await openSocket(port);
    const answers = readAnswers(socket, { count: 2 });
    socket.write(
      `POST /v1/merchants ${head}Idempotency-Key: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const waits = () =>
      sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until('the first request waits', async () => (await waits()).length > 0);
    const closed = gateway.app.close();
    await until('no new connection is taken', () => !gateway.app.server.listening);
    socket.write(`GET /v1/merchants ${head}\r\n`);
    await until('the second request has arrived', () => socket.writableLength === 0);
    await holder`rollback`;
    await holder.end();
    const [first, second] = await answers;
    assert.equal(first?.status, 201);
    if (second !== undefined) {
      assert.equal(second.status, 503);
      assert.equal(JSON.parse(second.body).code, 'internal_error');
      assert.equal(second.headers['retry-after'], '1');
    }
    await closed;
    await sql.end();
    await gateway.stop();
  });
});
