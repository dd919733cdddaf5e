import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import { type Account, postgresAccount } from '../src/sandbox/postgres-account.ts';
import { connectTo } from './database.ts';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { signalTree } from './process-tree.ts';
import { until } from './until.ts';

/** The embedded PostgreSQL has no pg_basebackup. */
const INITDB: DebianProgram = {
  names: ['initdb'],
  debianPackage: 'postgresql-15',
  override: '/usr/lib/postgresql/15/bin/initdb',
};

export const missingReplication = () => missingProgram(INITDB);

export interface Server {
  readonly url: string;
  signal(name: NodeJS.Signals): Promise<void>;
}

/** A primary and its standby. */
export interface ReplicatedPostgres {
  /** Names both hosts. */
  readonly url: string;
  readonly primary: Server;
  readonly standby: Server;
  promoteStandby(): Promise<void>;
  /** Starts the killed primary as a standby that follows nobody, as after a failover that was not cleaned up. */
  startFormerPrimary(): Promise<Server>;
  stop(): Promise<void>;
}

/** The standby is synchronous: a commit waits until it is written there. An asynchronous one stops nobody when it stops. */
export async function startReplicatedPostgres({ isSynchronous = true } = {}): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'till-replicated-'));
  const started: Started[] = [];
  const stop = async () => {
    for (const server of started) await server.end();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { ...(await startBoth(folder, started, isSynchronous)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Debian's PostgreSQL as its package sets it up: one server, whose URL is that of its administrator. */
export async function startDebianPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'till-debian-'));
  const started: Started[] = [];
  const stop = async () => {
    for (const server of started) await server.end();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const place = await openPlace(folder);
    await runTool(place, 'initdb', ['-D', join(folder, 'primary'), '-U', 'till', '--auth=trust', '--no-sync']);
    const server = await startServer(place, 'primary', { fsync: 'on' });
    started.push(server);
    return { url: server.url.replace(/till$/, 'postgres'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openPlace(folder: string): Promise<Place> {
  const account = await postgresAccount();
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
  return { folder, account, bin: dirname(programPath(INITDB) ?? '') };
}

interface Started {
  end(): Promise<void>;
}

async function startBoth(
  folder: string,
  started: Started[],
  isSynchronous: boolean,
): Promise<Omit<ReplicatedPostgres, 'stop'>> {
  const place = await openPlace(folder);
  await runTool(place, 'initdb', ['-D', join(folder, 'primary'), '-U', 'till', '--auth=trust', '--no-sync']);
  const primary = await startServer(place, 'primary');
  started.push(primary);
  await withConnection(primary.url.replace(/till$/, 'postgres'), (sql) => sql.unsafe('create database till'));
  const { port } = new URL(primary.url);
  const from = ['-h', '127.0.0.1', '-p', port, '-U', 'till'];
  await runTool(place, 'pg_basebackup', [...from, '-D', join(folder, 'standby'), '-R', '-c', 'fast', '--no-sync']);
  const standby = await startServer(place, 'standby');
  started.push(standby);
  await withConnection(primary.url, async (sql) => {
    if (isSynchronous) {
      await sql.unsafe("alter system set synchronous_standby_names = '*'");
      await sql`select pg_reload_conf()`;
    }
    await until('the standby follows', async () => {
      const rows = await sql`
        select from pg_stat_replication where sync_state = ${isSynchronous ? 'sync' : 'async'} and state = 'streaming'`;
      return rows.length === 1;
    });
  });
  return {
    url: `postgres://till@${new URL(primary.url).host},${new URL(standby.url).host}/till?target_session_attrs=read-write`,
    primary,
    standby,
    promoteStandby: () => withConnection(standby.url, (sql) => sql`select pg_promote()`),
    async startFormerPrimary() {
      await writeFile(join(folder, 'primary', 'standby.signal'), '');
      const former = await startServer(place, 'primary');
      started.push(former);
      return former;
    },
  };
}

interface Place {
  readonly folder: string;
  readonly bin: string;
  readonly account: Account | undefined;
}

const run = promisify(execFile);

async function runTool({ bin, account, folder }: Place, name: string, args: readonly string[]): Promise<void> {
  await run(join(bin, name), args, { cwd: folder, ...account });
}

async function startServer({ folder, bin, account }: Place, name: string, own: Readonly<Record<string, string>> = {}) {
  const port = await findPort(systemWorld.random);
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    // In the folder of the server. A killed server leaves shared memory of other kinds behind.
    dynamic_shared_memory_type: 'mmap',
    ...own,
  };
  const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const child: ChildProcess = spawn(join(bin, 'postgres'), ['-D', join(folder, name), ...args], {
    cwd: folder,
    stdio: 'ignore',
    ...account,
  });
  const ended = once(child, 'close');
  const url = `postgres://till@127.0.0.1:${port}/till`;
  const isAnswering = async () => {
    try {
      await withConnection(url.replace(/till$/, 'postgres'), (sql) => sql`select 1`);
      return true;
    } catch {
      return false;
    }
  };
  await until(`the ${name} answers`, isAnswering);
  const signal = (which: NodeJS.Signals) => signalTree(child.pid ?? 0, which);
  return {
    url,
    signal,
    async end() {
      if (child.exitCode === null && child.signalCode === null) await signal('SIGKILL');
      await ended;
    },
  };
}

async function withConnection(
  url: string,
  work: (sql: ReturnType<typeof connectTo>) => PromiseLike<unknown>,
): Promise<void> {
  const sql = connectTo(url);
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
