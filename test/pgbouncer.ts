import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import { postgresAccount } from '../src/sandbox/postgres-account.ts';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { until } from './until.ts';

const PGBOUNCER: DebianProgram = { names: ['pgbouncer'], debianPackage: 'pgbouncer' };
/** Fewer than a gateway uses at once, so that transactions of different requests share connections. */
const SERVER_CONNECTIONS = 3;
const MAX_CLIENTS = 500;

export const missingPgBouncer = () => missingProgram(PGBOUNCER);

export interface PgBouncer {
  /** The database, reached through PgBouncer in transaction mode. */
  readonly url: string;
  /** Leads to another server from now on, as an operator does after a failover. */
  pointAt(databaseUrl: string): Promise<void>;
  /** Takes these roles with their passwords from now on, and no others. */
  admit(passwords: Passwords): Promise<void>;
  stop(): Promise<void>;
}

/** The passwords of roles, by their names. */
type Passwords = Readonly<Record<string, string>>;

interface PgBouncerInput {
  readonly serverConnections?: number;
  /** The roles that may connect. Without them everybody may, with the role of the URL. */
  readonly passwords?: Passwords;
}

/** A real PgBouncer in front of the database. */
export async function startPgBouncer(
  databaseUrl: string,
  { serverConnections = SERVER_CONNECTIONS, passwords }: PgBouncerInput = {},
): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'till-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  const passwordFile = passwords === undefined ? undefined : join(folder, 'passwords');
  const listenPort = await findPort(systemWorld.random);
  // PgBouncer refuses to run as root.
  const account = await postgresAccount();
  const write = async (path: string, text: string) => {
    await writeFile(path, text);
    if (account !== undefined) await chown(path, account.uid, account.gid);
  };
  const configure = (url: string) => write(file, configurationOf(url, { listenPort, serverConnections, passwordFile }));
  const admit = async (roles: Passwords) => {
    if (passwordFile === undefined) throw new Error('This PgBouncer asks for no passwords.');
    const lines = Object.entries(roles).map(([role, password]) => `"${role}" "${password}"\n`);
    await write(passwordFile, lines.join(''));
  };
  await configure(databaseUrl);
  if (passwords !== undefined) await admit(passwords);
  await chmod(folder, 0o755);
  const child: ChildProcess = spawn(programPath(PGBOUNCER) ?? '', [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...account,
  });
  let output = '';
  child.stderr?.on('data', (bytes) => {
    output += bytes;
  });
  const ended = once(child, 'close');
  await until(`PgBouncer listens: ${output}`, () => isListening(listenPort));
  return {
    url: Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${listenPort}` }).href,
    async pointAt(otherUrl) {
      await configure(otherUrl);
      child.kill('SIGHUP');
    },
    async admit(roles) {
      await admit(roles);
      child.kill('SIGHUP');
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Listening {
  readonly listenPort: number;
  readonly serverConnections: number;
  readonly passwordFile: string | undefined;
}

function configurationOf(databaseUrl: string, { listenPort, serverConnections, passwordFile }: Listening): string {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  // Without a role of its own, PgBouncer connects with the role and the password of its client.
  const role = passwordFile === undefined ? ` user=${username}${secret}` : '';
  const access = passwordFile === undefined ? 'any' : `scram-sha-256\nauth_file = ${passwordFile}`;
  return `[databases]
${pathname.slice(1)} = host=${hostname} port=${port}${role}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = ${access}
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = ${MAX_CLIENTS}
server_login_retry = 1
`;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
