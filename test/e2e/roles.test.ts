import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { findPort } from '../../src/sandbox/free-port.ts';
import { connectTo, createTestDatabase, type TestConnection, type TestDatabase } from '../database.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import { until } from '../until.ts';

describe('the roles of a node', () => {
  let folder: string;
  let database: TestDatabase;
  let chain: SandboxChain;
  let sql: TestConnection;
  const started: NodeProcess[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-roles-'));
    database = await createTestDatabase();
    sql = connectTo(database.url);
    chain = await startSandboxChain(
      { world: systemWorld, log: pino({ level: 'silent' }) },
      { dir: join(folder, 'chain'), blockMs: 250 },
    );
  });
  after(async () => {
    for (const node of started) node.signal('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    await chain.stop();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const secret = randomBytes(32).toString('base64');
  async function start(settings: Record<string, string>, args: readonly string[] = []) {
    const node = await startNodeProcess(
      {
        TILL_HOME: join(folder, 'home'),
        TILL_SECRET: secret,
        DATABASE_URL: database.url,
        RPC_URLS: `eip155:31337=${chain.rpcUrl}`,
        ...settings,
      },
      args,
    );
    started.push(node);
    return node;
  }
  const leaseNames = async () => (await sql<{ name: string }[]>`select name from leases`).map(({ name }) => name);

  it('without `api` is the work alone, with probes and metrics on the metrics port', async () => {
    const metricsPort = String(await findPort(systemWorld.random));
    const node = await start({ METRICS_PORT: metricsPort, ROLES: 'api' }, ['--role', 'watch']);
    const monitor = `http://127.0.0.1:${metricsPort}`;
    const isReady = () =>
      fetch(`${monitor}/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until('the node is ready', isReady);
    await until('the node watches', async () => (await leaseNames()).includes('watch eip155:31337'));
    assert.equal((await fetch(`${monitor}/health`)).status, 200);
    assert.match(await (await fetch(`${monitor}/metrics`)).text(), /^till_/m);
    await assert.rejects(fetch(`${node.baseUrl}/health`), 'nothing listens on the port of the API');
    assert.deepEqual(await leaseNames(), ['watch eip155:31337'], 'the node leads nothing else');
    node.signal('SIGTERM');
    assert.equal(await node.ended, 0, node.output());
  });

  it('with `api` alone is the routes, without any work that needs a lease', async () => {
    await sql`delete from leases`;
    const node = await start({}, ['--role', 'api']);
    const { apiKey, merchantId } = await node.ready();
    const answer = await fetch(`${node.baseUrl}/v1/merchants/${merchantId}`, { headers: { 'Api-Key': apiKey } });
    assert.equal(answer.status, 200);
    assert.deepEqual(await leaseNames(), []);
  });

  it('must be known ones', async () => {
    const unknown = await start({}, ['--role', 'api,miner']);
    assert.equal(await unknown.ended, 2);
    assert.match(unknown.output(), /ROLES must list names of roles: api, relay, watch, jobs/);
    const misspelt = await start({}, ['--roles', 'api']);
    assert.equal(await misspelt.ended, 2);
    assert.match(misspelt.output(), /The command line is invalid: .*--roles/);
  });
});
