import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, World } from '../runtime/world.ts';
import { findProcesses, processCommand, processExists } from './os-process.ts';
import { type Launcher, processEnding, spawnAs } from './postgres-account.ts';
import { boundLog, type PostgresFolder, readIfThere } from './postgres-folder.ts';

export interface ServerDeps {
  readonly world: World;
  readonly log: Log;
}

export interface ServerPlan {
  readonly folder: PostgresFolder;
  readonly launcher: Launcher;
  readonly postgres: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A server process that has become ready. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
}

const POLL_MS = 20;
// How long the start of a server may take. A killed server first replays up to 1 GB of WAL, and another kill would only restart the
// replay. A healthy start takes 0.1 s.
const READY_WITHIN_MS = 60_000;
const MAX_TAIL_BYTES = 4_000;

// The steps to stop a server: fast shutdown; then immediate shutdown, after which the next start replays the WAL; then a kill.
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 8_000 },
  { signal: 'SIGQUIT', waitMs: 3_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

const ORPHAN_STEPS = [
  { signal: 'SIGQUIT', waitMs: 2_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  // Our statements are short, so JIT compilation costs more than it saves.
  jit: 'off',
  // A new database grows quickly. Until autovacuum analyses the tables, the planner assumes that they are empty.
  autovacuum_naptime: '10s',
  // A line for each checkpoint, every five minutes, would hide the important lines.
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Starts the server and waits until it accepts connections. If the server ends first, the error contains its output. */
export async function startServer(
  deps: ServerDeps,
  input: { readonly plan: ServerPlan; readonly port: number; readonly signal?: AbortSignal },
): Promise<ServerProcess> {
  const { plan, port } = input;
  await stopLeftover(deps, plan.folder);
  await boundLog(plan.folder.log);
  const log = await open(plan.folder.log, 'a', 0o600);
  try {
    const logStart = (await log.stat()).size;
    const child = spawnAs(plan.launcher, plan.postgres, serverArgs(plan, port), { stdio: ['ignore', log.fd, log.fd] });
    const server = watchProcess(child);
    const failure = await waitUntilReady(deps, { server, folder: plan.folder, signal: input.signal });
    if (failure === undefined) return server;
    await stopProcess(deps, server);
    throw new Error(`The embedded PostgreSQL did not start (${failure}): ${await logTail(plan.folder.log, logStart)}`);
  } finally {
    await log.close();
  }
}

function serverArgs(plan: ServerPlan, port: number): string[] {
  const settings = {
    ...SETTINGS,
    ...plan.settings,
    // These settings come last, so that callers cannot override them: the URL and the recognition of a running server depend on them.
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    cluster_name: clusterName(plan.folder),
  };
  return ['-D', plan.folder.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

function watchProcess(child: ChildProcess): ServerProcess {
  let hasEnded = false;
  const ended = processEnding(child).then((ending) => {
    hasEnded = true;
    return ending;
  });
  // If there is no process id, the program could not be started. `ended` has the reason.
  return { pid: child.pid ?? 0, ended, hasEnded: () => hasEnded };
}

/** Waits until the server accepts connections. Resolves with undefined, or with the reason why the server is not ready. */
async function waitUntilReady(
  deps: ServerDeps,
  input: { readonly server: ServerProcess; readonly folder: PostgresFolder; readonly signal?: AbortSignal | undefined },
): Promise<string | undefined> {
  const { server, folder, signal } = input;
  for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += POLL_MS) {
    if (server.hasEnded()) return server.ended;
    if (signal?.aborted) return 'stopped';
    // PostgreSQL writes its process id into the first line of this file, and its state into the eighth.
    const lines = ((await readIfThere(pidFile(folder))) ?? '').split('\n');
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return undefined;
    await deps.world.timers.sleep(POLL_MS, signal);
  }
  return `not ready after ${READY_WITHIN_MS / 1000} s`;
}

/** Stops a server process, first by a fast shutdown. */
export async function stopProcess(
  deps: ServerDeps,
  target: { readonly pid: number; hasEnded(): boolean | Promise<boolean> },
): Promise<void> {
  for (const { signal, waitMs } of STOP_STEPS) {
    if (await target.hasEnded()) return;
    sendSignal(target.pid, signal);
    for (let waitedMs = 0; waitedMs < waitMs; waitedMs += POLL_MS) {
      if (await target.hasEnded()) return;
      await deps.world.timers.sleep(POLL_MS);
    }
    deps.log.warn({ pid: target.pid, signal, waitMs }, 'the embedded PostgreSQL did not stop in time');
  }
}

/**
 * Sends a signal to a process. Does nothing if the process has ended or belongs to another account. Process id 0 would mean the
 * gateway's own process group.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 0) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/**
 * Stops processes that a killed gateway or server left running in this folder. The caller holds the home lock, so no running
 * gateway uses the folder. Returns true if a process may still be ending.
 */
export async function stopLeftover(deps: ServerDeps, folder: PostgresFolder): Promise<boolean> {
  const text = await readIfThere(pidFile(folder));
  if (text === undefined) return false;
  const pid = Number(text.split('\n')[0]);
  if (await isServerOf(folder, pid)) {
    deps.log.warn({ pid }, 'stopping the PostgreSQL server that a killed gateway left running');
    await stopProcess(deps, { pid, hasEnded: async () => !(await isServerOf(folder, pid)) });
  } else if (pid > 0 && processExists(pid)) {
    // Another process has got the id of the dead server, as happens in containers. PostgreSQL would take it for a running server
    // and not start, so the file with the id is removed.
    await rm(pidFile(folder), { force: true });
  }
  await stopOrphans(deps, folder);
  return true;
}

/**
 * Stops the child processes of a killed main process. Idle children end by themselves. A child in the middle of a statement
 * finishes it first, and until then PostgreSQL does not start again. Nobody needs the result of that statement.
 */
async function stopOrphans(deps: ServerDeps, folder: PostgresFolder): Promise<void> {
  const find = () => findProcesses(`postgres: ${clusterName(folder)}: `);
  for (const { signal, waitMs } of ORPHAN_STEPS) {
    for (let waitedMs = 0; waitedMs < waitMs; waitedMs += POLL_MS) {
      const pids = await find();
      if (pids.length === 0) return;
      // Signals are repeated, because a child may have forked another one.
      for (const pid of pids) sendSignal(pid, signal);
      await deps.world.timers.sleep(POLL_MS);
    }
  }
}

/** True if the process is this folder's server. Its command line is checked, because the id may belong to another program. */
export async function isServerOf(folder: PostgresFolder, pid: number): Promise<boolean> {
  return (await processCommand(pid))?.includes(`postgres -D ${folder.data} -c `) ?? false;
}

/** The name of the server. PostgreSQL shows it in the command line of each of its processes, which does not contain the folder. */
function clusterName(folder: PostgresFolder): string {
  return `till-${createHash('sha256').update(folder.data).digest('hex').slice(0, 16)}`;
}

async function logTail(path: string, fromByte: number): Promise<string> {
  const size = (await stat(path)).size;
  const start = Math.max(fromByte, size - MAX_TAIL_BYTES);
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_TAIL_BYTES), 0, MAX_TAIL_BYTES, start);
    return buffer.toString('utf8', 0, bytesRead).trim() || 'it wrote nothing to its log';
  } finally {
    await file.close();
  }
}

const pidFile = (folder: PostgresFolder) => join(folder.data, 'postmaster.pid');
