import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
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

export const missingDebianPostgres = () => missingProgram(INITDB);

export interface Server {
  /** Of its database `till`, as its administrator. */
  readonly url: string;
  signal(name: NodeJS.Signals): Promise<void>;
}

export interface StartedServer extends Server {
  end(): Promise<void>;
}

/** A folder for the data of servers, and the account that they run with: PostgreSQL refuses to run as root. */
export interface Place {
  readonly folder: string;
  readonly bin: string;
  readonly account: Account | undefined;
}

export async function openPlace(name: string): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), `till-${name}-`));
  const account = await postgresAccount();
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
  return { folder, account, bin: dirname(programPath(INITDB) ?? '') };
}

export const removePlace = ({ folder }: Place) => rm(folder, { recursive: true, force: true });

/** Debian's PostgreSQL as its package sets it up: one server, whose URL is that of its administrator. */
export async function startDebianPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const place = await openPlace('debian');
  let server: StartedServer | undefined;
  const stop = async () => {
    await server?.end();
    await removePlace(place);
  };
  try {
    await initialize(place, 'primary');
    server = await startServer(place, 'primary', { fsync: 'on' });
    return { url: administrationUrl(server), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The data of a new server. */
export async function initialize(place: Place, name: string): Promise<void> {
  await runTool(place, 'initdb', ['-D', join(place.folder, name), '-U', 'till', '--auth=trust', '--no-sync']);
}

const run = promisify(execFile);

/** Runs a program of PostgreSQL, or another one by its path, with the account of the servers. Returns its output. */
export async function runTool({ bin, account, folder }: Place, name: string, args: readonly string[]): Promise<string> {
  const program = name.startsWith('/') ? name : join(bin, name);
  const { stdout } = await run(program, args, { cwd: folder, ...account, maxBuffer: 10_000_000 });
  return stdout;
}

/** Starts the server whose data are in the folder of that name, on a new port or the given one. */
export async function startServer(
  { folder, bin, account }: Place,
  name: string,
  own: Readonly<Record<string, string>> = {},
): Promise<StartedServer> {
  const port = own.port ?? String(await findPort(systemWorld.random));
  const settings = {
    port,
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
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const url = `postgres://till@127.0.0.1:${port}/till`;
  await until(`the ${name} answers`, () => {
    if (hasEnded()) throw new Error(`The ${name} ended with ${child.exitCode ?? child.signalCode}.`);
    return isAnswering({ url });
  });
  const signal = (which: NodeJS.Signals) => signalTree(child.pid ?? 0, which);
  return {
    url,
    signal,
    async end() {
      if (!hasEnded()) await signal('SIGKILL');
      await ended;
    },
  };
}

export const administrationUrl = ({ url }: Pick<Server, 'url'>) => url.replace(/till$/, 'postgres');

async function isAnswering(server: Pick<Server, 'url'>): Promise<boolean> {
  try {
    await withConnection(administrationUrl(server), (sql) => sql`select 1`);
    return true;
  } catch {
    return false;
  }
}

export async function withConnection<T>(
  url: string,
  work: (sql: ReturnType<typeof connectTo>) => PromiseLike<T>,
): Promise<T> {
  const sql = connectTo(url);
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
