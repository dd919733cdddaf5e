import { join } from 'node:path';
import { type Config, readConfig, secretValues } from './config.ts';
import { readEnvironment } from './environment.ts';
import { buildApp } from './http/app.ts';
import { serveMetrics } from './http/metrics-server.ts';
import { openFilesWarning } from './http/open-files.ts';
import { createLog } from './log.ts';
import { watchProcess } from './metrics.ts';
import { createParts } from './parts.ts';
import { banner } from './sandbox/banner.ts';
import { openSandbox } from './sandbox/demo.ts';
import { startEmbeddedPostgres } from './sandbox/embedded-postgres.ts';
import { HomeInUseError, lockHome } from './sandbox/home-lock.ts';
import { openDatabase } from './store/database.ts';
import { migrate, SchemaMismatchError } from './store/migrate.ts';
import { systemWorld } from './system.ts';
import { housekeepingJobs } from './workers/housekeeping.ts';
import { startJobs } from './workers/loop.ts';

/** Requests in flight get this long to end before their connections are closed. */
const DRAIN_MS = 8_000;
/** Whoever stops a node may count on this: what has not ended by then is ended with the process. */
const STOP_MS = 9_500;
const ignore = () => {};

if (import.meta.main) await main();

async function main(): Promise<void> {
  const read = readConfig(readEnvironment());
  if ('problems' in read) {
    process.stderr.write(`The configuration is not right:\n${read.problems.map((text) => `  ${text}\n`).join('')}`);
    process.exit(2);
  }
  const stopAsked = stopSignal();
  const stop = await start(read.config).catch(refuse);
  await stopAsked;
  systemWorld.timers.after(STOP_MS, () => process.exit(1));
  await stop();
  process.exit(0);
}

/** Brings everything up, each part with the way to take it down again; the last up is the first down. */
async function start(config: Config): Promise<() => Promise<void>> {
  const downs: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const down of downs.splice(0).reverse()) {
      try {
        await down();
      } catch (error) {
        // What is still up must come down all the same.
        process.stderr.write(`While stopping: ${String(error)}\n`);
      }
    }
  };
  try {
    await startParts(config, (down) => downs.push(down));
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(config: Config, onStop: (down: () => Promise<void> | void) => void): Promise<void> {
  const world = systemWorld;
  const isEmbedded = config.databaseUrl === undefined;
  if (isEmbedded) onStop(await lockHome(config.home));
  const file = isEmbedded ? join(config.home, 'logs', 'gateway.log') : undefined;
  const log = createLog({ level: config.logLevel, secrets: secretValues(config), file });
  crashOnSurprise((error, text) => log.fatal({ err: error }, text));

  let url = config.databaseUrl;
  if (url === undefined) {
    const embedded = await startEmbeddedPostgres({ world, log }, { dir: join(config.home, 'postgres') });
    onStop(() => embedded.stop());
    url = embedded.url;
  }
  await migrate({ log }, url);
  const db = openDatabase({ url, poolSize: config.databasePoolSize, applicationName: 'till' });
  onStop(() => db.close());

  const parts = await createParts({ config, world, log, db });
  onStop(() => parts.stop());
  watchProcess(parts.metrics);
  onStop(() => parts.keyUses.flush(parts).then(ignore, ignore));
  onStop(startJobs(parts, housekeepingJobs(parts)));

  const metricsServer = await serveMetrics(parts, { host: config.metricsHost, port: config.metricsPort });
  onStop(() => metricsServer.close());
  const app = await buildApp(parts);
  onStop(async () => {
    const cut = world.timers.after(DRAIN_MS, () => app.server.closeAllConnections());
    await app.close();
    cut();
  });
  await app.listen({ port: config.port, host: config.host });
  log.info({ port: config.port, host: config.host }, 'listening');
  const warning = openFilesWarning();
  if (warning !== undefined) log.warn(warning);

  const sandbox = await openSandbox(parts, { home: config.home, baseUrl: config.publicUrl });
  process.stdout.write(banner(sandbox, { home: config.home, metricsPort: metricsServer.port }));
}

/** Resolves at the first signal; a second one does not wait. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0;
    const onSignal = () => {
      count += 1;
      if (count > 1) process.exit(1);
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** A process in an unknown state does not go on: it ends, and the next start recovers from what is stored. */
function crashOnSurprise(report: (error: unknown, text: string) => void): void {
  const crash = (error: unknown) => {
    report(error, 'unexpected error: stopping');
    setImmediate(() => process.exit(1));
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}

/** Says in one line why the gateway cannot start; a stack only where we do not know. */
function refuse(error: unknown): never {
  const isExpected = error instanceof HomeInUseError || error instanceof SchemaMismatchError;
  const { code, message = String(error), stack } = error as NodeJS.ErrnoException;
  const text =
    code === 'EADDRINUSE' ? `${message}. Set PORT to a free port.` : isExpected ? message : (stack ?? message);
  process.stderr.write(`Till cannot start: ${text}\n`);
  process.exit(1);
}
