import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { until } from './until.ts';

const HAPROXY: DebianProgram = { names: ['haproxy'], debianPackage: 'haproxy' };
/** The examples of the documentation, as they are. */
const CONFIGURATION = join(import.meta.dirname, '../docs/examples/haproxy.cfg');
const FOR_PATRONI = join(import.meta.dirname, '../docs/examples/haproxy-patroni.cfg');

export const missingHaproxy = () => missingProgram(HAPROXY);

/** The complaint of HAProxy about the configuration with these settings; empty if it accepts them. */
export function checkConfiguration(settings: Readonly<Record<string, string>>): string {
  const { status, stderr } = spawnSync(programPath(HAPROXY) ?? '', ['-c', '-f', CONFIGURATION], {
    env: { TILL_LISTEN: ':8443', TILL_STATUS: '127.0.0.1:8404', ...settings },
    encoding: 'utf8',
  });
  return status === 0 ? '' : stderr || 'refused';
}

export interface Haproxy {
  readonly url: string;
  /** The number of nodes that get requests. */
  inUse(): Promise<number>;
  stop(): Promise<void>;
}

/** A real HAProxy in front of up to nine nodes. With a certificate (the file of a PEM) it speaks TLS. */
export async function startHaproxy(
  origins: readonly string[],
  { certificate }: { readonly certificate?: string } = {},
): Promise<Haproxy> {
  const [port, statusPort] = [await findPort(systemWorld.random), await findPort(systemWorld.random)];
  const nodes = origins.map((origin, index) => [`TILL_NODE_${index + 1}`, new URL(origin).host] as const);
  const { child, stop, output } = run(CONFIGURATION, {
    TILL_LISTEN: `127.0.0.1:${port}`,
    TILL_STATUS: `127.0.0.1:${statusPort}`,
    ...Object.fromEntries(nodes),
    ...(certificate !== undefined && { TILL_CERTIFICATE: certificate }),
  });
  const inUse = async () => {
    const answer = await fetch(`http://127.0.0.1:${statusPort}/;csv`).catch(() => undefined);
    return answer === undefined ? 0 : countUp(await answer.text());
  };
  try {
    await until('HAProxy uses the nodes', async () => {
      if (child.exitCode !== null) throw new Error(`HAProxy ended: ${output()}`);
      return (await inUse()) === nodes.length;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, inUse, stop };
}

interface DatabaseOrigin {
  readonly server: string;
  readonly patroni: string;
}

/** A real HAProxy in front of the primary of servers that Patroni leads. */
export async function startDatabaseProxy(
  origins: readonly DatabaseOrigin[],
): Promise<{ readonly host: string; stop(): Promise<void> }> {
  const host = `127.0.0.1:${await findPort(systemWorld.random)}`;
  const servers = origins.flatMap(({ server, patroni }, index) => [
    [`TILL_SERVER_${index + 1}`, new URL(server).host],
    [`TILL_PATRONI_${index + 1}`, new URL(patroni).host],
  ]);
  const { stop } = run(FOR_PATRONI, { TILL_DATABASE: host, ...Object.fromEntries(servers) });
  return { host, stop };
}

function run(configuration: string, env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(programPath(HAPROXY) ?? '', ['-db', '-f', configuration], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (bytes) => {
    output += bytes;
  });
  const ended = once(child, 'close');
  return {
    child,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The rows of the table of HAProxy that are nodes which answer their checks. */
function countUp(csv: string): number {
  const [titles = [], ...rows] = csv.split('\n').map((line) => line.split(','));
  const [name, status] = [titles.indexOf('svname'), titles.indexOf('status')];
  return rows.filter((row) => /^node\d$/.test(row[name] ?? '') && row[status] === 'UP').length;
}
