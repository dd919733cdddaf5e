import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import { mountSmallDisk, type SmallDisk } from './crash/small-disk.ts';
import { missingDebianPostgres, openPlace, type Place, removePlace, withConnection } from './debian-postgres.ts';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { missingEtcd, startEtcd } from './etcd.ts';
import { missingHaproxy, startDatabaseProxy } from './haproxy.ts';
import { signalTree } from './process-tree.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

const PATRONI: DebianProgram = { names: ['patroni'], debianPackage: 'patroni' };
/** The shortest that Patroni allows, so that a lost primary is replaced soon. */
const TERMS = { ttl: 20, loop_wait: 2, retry_timeout: 5 };
const DISK_MB = 512;
const TOLD_WITHIN_MS = 60_000;
const LAST_WORDS = 3_000;
const STARTED = { withinMs: 180_000 };

export const missingPatroni = () =>
  missingHaproxy() || missingDebianPostgres() || missingProgram(PATRONI) || missingEtcd();

/** A PostgreSQL with its Patroni, on a machine of its own: its network can be cut, and its disk can be full. */
export interface Member {
  readonly name: string;
  /** Undefined where no small disk may be mounted. */
  readonly disk: SmallDisk | undefined;
  isPrimary(): Promise<boolean>;
  /** Kills Patroni and PostgreSQL. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Asks its Patroni to make the other server the primary, as an operator does. It may refuse. */
  handOver(): Promise<void>;
  /** Has its Patroni replace all its data by those of the primary, as an operator does. */
  copyAnew(): Promise<void>;
  /** True if its Patroni runs. */
  isRunning(): boolean;
  /** Nothing reaches it or leaves it, and no connection ends: its cable is out. */
  cutNetwork(): void;
  joinNetwork(): void;
  /** The last words of its Patroni. */
  output(): string;
}

export interface PatroniCluster {
  /** Of the database `till` on the primary of the moment, through HAProxy. */
  readonly url: string;
  readonly members: readonly [Member, Member];
  /** The member that takes writes. Undefined while there is none, or two. */
  primary(): Promise<Member | undefined>;
  /** There is a primary, and the other member is its synchronous standby. */
  isComplete(): Promise<boolean>;
  untilComplete(): Promise<void>;
  stop(): Promise<void>;
}

/** Two PostgreSQL led by Patroni with etcd, and HAProxy in front of the primary. */
export async function startPatroni(): Promise<PatroniCluster> {
  const place = await openPlace('patroni');
  const stops: (() => Promise<unknown>)[] = [() => removePlace(place)];
  const stop = async () => {
    for (const end of stops.toReversed()) await end();
  };
  try {
    return { ...(await startParts(place, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(place: Place, stops: (() => Promise<unknown>)[]): Promise<Omit<PatroniCluster, 'stop'>> {
  const etcd = await startEtcd(place);
  stops.push(etcd.stop);
  const open = async (name: string) => {
    const member = await openMember(place, name, etcd.url);
    stops.push(member.remove);
    return member;
  };
  const members = [await open('a'), await open('b')] as const;
  const [first, second] = members;
  await first.start();
  await until('there is a primary', first.isPrimary, STARTED).catch((error: Error) => {
    throw new Error(`${error.message}\n${first.output()}`);
  });
  await second.start();
  const standbyOf = (member: Member) => (member === first ? second : first);
  const primary = async () => {
    const [isFirst, isSecond] = [await first.isPrimary(), await second.isPrimary()];
    return isFirst === isSecond ? undefined : isFirst ? first : second;
  };
  const isComplete = async () => {
    const leader = await primary();
    return leader !== undefined && (await standbyOf(leader).isSynchronous());
  };
  const untilComplete = () =>
    until('a primary has a synchronous standby', isComplete, STARTED).catch((error: Error) => {
      throw new Error(`${error.message}\n${members.map(({ output }) => output()).join('\n')}`);
    });
  await untilComplete();
  const origins = members.map(({ wires }) => ({ server: wires.server.url, patroni: wires.api.url }));
  const proxy = await startDatabaseProxy(origins);
  stops.push(proxy.stop);
  const url = `postgres://till@${proxy.host}/till`;
  await until('HAProxy leads to the primary', () => canCreate(url), STARTED);
  return { url, members, primary, isComplete, untilComplete };
}

async function canCreate(url: string): Promise<boolean> {
  try {
    await withConnection(url.replace(/till$/, 'postgres'), (sql) => sql.unsafe('create database till'));
    return true;
  } catch {
    return false;
  }
}

type OpenedMember = Awaited<ReturnType<typeof openMember>>;

async function openMember(place: Place, name: string, etcdUrl: string) {
  const { folder, account } = place;
  const disk = mountSmallDisk(join(folder, name), DISK_MB);
  const home = disk?.dir ?? join(folder, name);
  const [port, apiPort] = [await findPort(systemWorld.random), await findPort(systemWorld.random)];
  const api = `http://127.0.0.1:${apiPort}`;
  /** Everything that reaches the member or leaves it, by the direction. */
  const wires = {
    server: await startTcpProxy(`postgres://127.0.0.1:${port}`),
    api: await startTcpProxy(api),
    etcd: await startTcpProxy(etcdUrl),
  };
  const all = Object.values(wires) as TcpProxy[];
  const file = join(folder, `${name}.json`);
  const data = join(home, 'data');
  await writeFile(
    file,
    JSON.stringify(configurationOf(place, { name, data, port, apiPort, wires, pgpass: `${file}.pgpass` })),
  );
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let output = '';
  const asks = async (path: string) => {
    const answer = await fetch(`${api}${path}`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status === 200;
  };
  const tells = async (path: string, words: object) => {
    const answer = await fetch(`${api}${path}`, {
      method: 'POST',
      body: JSON.stringify(words),
      signal: AbortSignal.timeout(TOLD_WITHIN_MS),
    }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status === 200;
  };
  const kill = async () => {
    child?.kill('SIGKILL');
    await ended;
    const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
    if (pid > 0) await signalTree(pid, 'SIGKILL');
  };
  return {
    name,
    disk,
    wires,
    /** The primary that still holds the leader key, by its own word. */
    isPrimary: () => asks('/primary'),
    isSynchronous: () => asks('/synchronous'),
    kill,
    async start() {
      child = spawn(programPath(PATRONI) ?? '', [file], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' },
        stdio: ['ignore', 'pipe', 'pipe'],
        ...account,
      });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (bytes) => (output = `${output}${bytes}`.slice(-LAST_WORDS)));
      }
      // PostgreSQL inherits the streams, so they stay open longer.
      ended = once(child, 'exit');
    },
    handOver: async () => void (await tells('/switchover', { leader: name })),
    copyAnew: () => until('it takes the data of the primary', () => tells('/reinitialize', { force: true }), STARTED),
    isRunning: () => child?.exitCode === null && child.signalCode === null,
    cutNetwork() {
      for (const wire of all) wire.hang();
    },
    joinNetwork() {
      for (const wire of all) wire.resume();
    },
    output: () => `${name}: ${output}`,
    async remove() {
      await kill();
      for (const wire of all) await wire.cut();
      disk?.unmount();
    },
  };
}

interface MemberTerms {
  readonly name: string;
  readonly data: string;
  readonly port: number;
  readonly apiPort: number;
  readonly wires: OpenedMember['wires'];
  readonly pgpass: string;
}

/** JSON is YAML, too. */
function configurationOf({ bin }: Place, { name, data, port, apiPort, wires, pgpass }: MemberTerms): object {
  const hostOf = (wire: TcpProxy) => new URL(wire.url).host;
  return {
    scope: 'till',
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: hostOf(wires.api) },
    // Without the flag Patroni asks etcd for its address, and goes around the wire.
    etcd3: { hosts: [hostOf(wires.etcd)], use_proxies: true },
    bootstrap: {
      dcs: {
        ...TERMS,
        // Another server takes over at once. A server with a full disk starts again, crashes, and keeps the leader key for ever.
        primary_start_timeout: 0,
        maximum_lag_on_failover: 16_777_216,
        // An answer is sent when both servers have the commit.
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: {
            fsync: 'off',
            max_connections: 100,
            max_wal_size: '96MB',
            min_wal_size: '32MB',
            // Kept for a standby that was away, on a small disk.
            max_slot_wal_keep_size: '128MB',
            // In the folder of the server. A killed server leaves shared memory of other kinds behind.
            dynamic_shared_memory_type: 'mmap',
            unix_socket_directories: '',
          },
        },
      },
      initdb: ['data-checksums', 'no-sync', { encoding: 'UTF8' }, { auth: 'trust' }],
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: hostOf(wires.server),
      data_dir: data,
      bin_dir: bin,
      pgpass,
      authentication: {
        superuser: { username: 'till' },
        replication: { username: 'till' },
        rewind: { username: 'till' },
      },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
  };
}
