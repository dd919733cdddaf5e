import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openReceiptKey } from './actions/open-receipt-key.ts';
import { copyLogos } from './actions/parties/copy-logo.ts';
import { createRescreener } from './actions/paying/rescreen-items.ts';
import { openRecords } from './actions/records/open-records.ts';
import { createRecordMemory } from './actions/records/remember-records.ts';
import { rowKeysOf } from './actions/row-keys.ts';
import { examineGateway } from './cli/examine-gateway.ts';
import { buildApp } from './http/app.ts';
import { loadPageBundle } from './http/checkout/page-bundle.ts';
import { openFilesWarning } from './http/entry/open-files.ts';
import { serveMetrics } from './http/metrics-server.ts';
import { createImageFetcher } from './logos/fetch-image.ts';
import { createMailer } from './mail/smtp.ts';
import { connectNetworks, openRates, openReceivers, openScreening, openTraces } from './outside.ts';
import { type OwnSandbox, openOwnSandbox, sandboxJobs } from './own-sandbox.ts';
import { createParts } from './parts.ts';
import { createLog } from './runtime/log.ts';
import { watchProcess } from './runtime/metrics.ts';
import { steadyClock, systemWorld } from './runtime/system-world.ts';
import type { World } from './runtime/world.ts';
import { banner } from './sandbox/banner.ts';
import { startSandboxChain } from './sandbox/chain-process.ts';
import { announceSandbox } from './sandbox/demo.ts';
import { startEmbeddedPostgres } from './sandbox/embedded-postgres.ts';
import { SANDBOX_FIRST_BLOCK } from './sandbox/genesis.ts';
import { lockHome } from './sandbox/home-lock.ts';
import { SANDBOX_NETWORK } from './sandbox/sandbox-network.ts';
import { followSandboxTime } from './sandbox/sandbox-time.ts';
import {
  depositMinimumOn,
  gasBudgets,
  isSandbox,
  minBalanceOn,
  needsOwnChain,
  networksInUse,
} from './settings/chains.ts';
import type { Config } from './settings/config.ts';
import { drainTimeMs } from './settings/drain-time.ts';
import { readEnvironment } from './settings/environment.ts';
import { openSecrets } from './settings/master-secret.ts';
import { misspeltSettings } from './settings/misspelt.ts';
import { productionRisks } from './settings/production-risks.ts';
import { readStartConfig } from './settings/read-config.ts';
import type { Role } from './settings/roles.ts';
import { secretValues } from './settings/secret-values.ts';
import { withArguments } from './settings/start-arguments.ts';
import { startRefusal } from './start-refusal.ts';
import { openRunRole } from './store/plumbing/database-roles.ts';
import { migrate } from './store/plumbing/migrate.ts';
import { openNodeDatabase } from './store/plumbing/node-database.ts';
import { startBookkeeping } from './workers/bookkeeping.ts';
import { startDelivering } from './workers/delivering.ts';
import { checks, housekeepingJobs, pruneDeliveriesJob, usesJobs } from './workers/housekeeping.ts';
import { startJobs } from './workers/loop.ts';
import { mailJobs, startMailing } from './workers/mailing.ts';
import { payingOutJobs } from './workers/paying-out.ts';
import { startPlacing } from './workers/placing.ts';
import { startRelaying } from './workers/relaying.ts';
import { startWatching } from './workers/watching.ts';

/** Requests in flight get this long to end before their connections are closed. */
const LAST_REQUESTS_MS = 8_000;
/** The longest time for a stop after the drain. The process then exits, even if parts are still running. */
const STOP_MS = 9_500;
/** Under npm, Ctrl-C arrives twice: from the terminal and from npm. Signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;
/** The start waits at most this long for the first check of the chains, so that the first requests find the networks ready. */
const FIRST_CHECK_MS = 5_000;
/** After a change of the screening list, the payers of open payments are screened again within this time. */
const RESCREEN_MS = 10_000;
/** A new logo appears on the checkout within this time. */
const COPY_LOGOS_MS = 2_000;
/** The web pages, built by npm's `prepare` step. */
const PAGE = join(import.meta.dirname, '../web/dist');
const ignore = () => {};

if (import.meta.main) await runGateway(systemWorld);

/** Runs a node until a stop signal, then ends the process. */
export async function runGateway(world: World): Promise<void> {
  const given = withArguments(ownEnvironment(), process.argv.slice(2));
  if ('problem' in given) {
    process.stderr.write(`The command line is invalid: ${given.problem}\n`);
    process.exit(2);
  }
  const { environment } = given;
  const misspelt = misspeltSettings(environment);
  const read = readStartConfig(environment);
  if ('problems' in read) {
    const lines = [...read.problems, ...misspelt].map((text) => `  ${text}\n`);
    process.stderr.write(`The configuration is invalid:\n${lines.join('')}`);
    process.exit(2);
  }
  for (const text of misspelt) process.stderr.write(`Warning: ${text}\n`);
  const stopAsked = stopSignal();
  const stop = await start({ config: read.config, environment }, world).catch(refuse);
  await stopAsked;
  systemWorld.timers.after(drainTimeMs(read.config) + STOP_MS, () => process.exit(1));
  await stop();
  process.exit(0);
}

function ownEnvironment(): ReturnType<typeof readEnvironment> {
  try {
    return readEnvironment();
  } catch (error) {
    return refuse(error);
  }
}

/** Starts all parts. The returned function stops them in reverse order. */
async function start(settings: Settings, world: World): Promise<() => Promise<void>> {
  const downs: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const down of downs.splice(0).reverse()) {
      try {
        await down();
      } catch (error) {
        // A part that fails to stop must not keep the others running.
        process.stderr.write(`While stopping: ${String(error)}\n`);
      }
    }
  };
  try {
    await startParts({ ...settings, machine: world }, (down) => downs.push(down));
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The settings of the node, and the environment that they were read from. */
interface Settings {
  readonly config: Config;
  readonly environment: ReturnType<typeof readEnvironment>;
}

type OnStop = (down: () => Promise<void> | void) => void;

async function startParts(
  { config: given, environment, machine }: Settings & { readonly machine: World },
  onStop: OnStop,
): Promise<void> {
  const isEmbedded = given.databaseUrl === undefined;
  if (isEmbedded) onStop(await lockHome(given.home));
  const file = isEmbedded ? join(given.home, 'logs', 'gateway.log') : undefined;
  const log = createLog({ level: given.logLevel, secrets: secretValues(given), file });
  crashOnSurprise((error, text) => log.fatal({ err: error }, text));

  for (const { name, message } of productionRisks(given)) log.warn({ risk: name }, message);

  const telemetry = await openTraces(given, log);
  onStop(() => telemetry?.stop());
  const ownWorld: World = { ...machine, tracing: telemetry?.tracing };

  const ownChain = startOwnChain({ config: given, world: ownWorld, log }, onStop);
  const url = await openServer({ config: given, world: ownWorld, log }, onStop);
  const database = await openNodeDatabase({
    ...given,
    url,
    directUrl: given.databaseDirectUrl,
    isPrepared: given.databasePrepare,
    poolSize: given.databasePoolSize,
    applicationName: 'till',
    log,
    baseClock: steadyClock,
    machineClock: ownWorld.clock,
    tracing: ownWorld.tracing,
  });
  onStop(() => database.close());
  const { db, listDb, replica, clockOffMs } = database;
  const { registry, memory } = await openRecords({ db, registry: given.registry });
  const config = { ...given, registry };
  // From here on the clock follows the database's clock. A sandbox has its own, movable time.
  const realWorld: World = { ...ownWorld, clock: database.clock };
  const time = isSandbox(config) ? await followSandboxTime({ db, registry, log, world: realWorld }) : undefined;
  onStop(() => time?.stop());
  const world: World = { ...realWorld, clock: time?.clock ?? realWorld.clock };

  const secrets = await openSecrets({ config, world });
  const base = { config, registry, world, log, db, listDb, replica, secrets, rowKeys: rowKeysOf(secrets) };
  const records = createRecordMemory(base, memory);
  const networks = networksInUse(config, await ownChain);
  const chains = await connectNetworks({ ...base, records }, { networks, ownChain: await ownChain });
  onStop(() => chains.stop());
  // Opening the receipt key fails for a wrong master secret, before anything is written.
  const receiptKey = await openReceiptKey(base);
  const sandbox = time && (await openOwnSandbox(base, { networks, time }));
  const page = await loadPageBundle(PAGE);
  if (page === undefined) log.warn('the checkout page has not been built: run npm run build');
  const parts = await createParts({
    ...base,
    records,
    receiptKey,
    chains,
    page,
    clockOffMs,
    sandbox: sandbox?.shop,
    testClock: sandbox?.testClock,
    rehearse: sandbox?.rehearse,
    examine: () => examineGateway({ config, environment, world: machine }),
    rates: openRates(base, networks, onStop),
    screening: await openScreening(base, onStop),
  });
  onStop(() => parts.stop());
  watchProcess(parts.metrics);
  for (const kept of [parts.keyUses, parts.openings, parts.optionAsks, parts.sessionUses, parts.requestLog]) {
    onStop(() => kept.flush(parts).then(ignore, ignore));
  }
  const stopWorkers = await startWorkers(parts, sandbox);
  onStop(stopWorkers);

  const metricsServer = await serveMetrics(parts, { host: config.metricsHost, port: config.metricsPort });
  onStop(() => metricsServer.close());
  const isApi = config.roles.includes('api');
  if (isApi) await startApi(parts, onStop);
  onStop(async () => {
    parts.drain.begin();
    // Leases pass to other nodes now, while this node still answers requests. The workers' end is awaited later.
    void stopWorkers();
    if (isApi) await world.timers.sleep(drainTimeMs(config));
  });
  log.info({ roles: config.roles, metricsPort: metricsServer.port }, 'started');
  // Writes the compile cache now, in the first start of an installation: a node that is killed writes nothing at its end.
  flushCompileCache();

  if (sandbox === undefined || !isApi) return;
  await Promise.race([chains.firstCheck, world.timers.sleep(FIRST_CHECK_MS)]);
  await announceSandbox(config.home, sandbox.file);
  process.stdout.write(banner(sandbox.file, { home: config.home, metricsPort: metricsServer.port }));
}

type Parts = Awaited<ReturnType<typeof createParts>>;

async function startApi(parts: Parts, onStop: OnStop): Promise<void> {
  const { config, world, log } = parts;
  const app = await buildApp(parts);
  onStop(async () => {
    const cut = world.timers.after(LAST_REQUESTS_MS, () => app.server.closeAllConnections());
    await app.close();
    cut();
  });
  await app.listen({ port: config.port, host: config.host });
  log.info({ port: config.port, host: config.host }, 'listening');
  const warning = openFilesWarning();
  if (warning !== undefined) log.warn(warning);
}

/** Opens or starts the database and migrates it. Returns the URL of the role that the gateway runs as. */
async function openServer(
  { config, world, log }: { config: Config; world: World; log: Logger },
  onStop: OnStop,
): Promise<string> {
  if (config.databaseUrl !== undefined) {
    const url = config.databaseMigrateUrl ?? config.databaseDirectUrl ?? config.databaseUrl;
    await migrate({ log }, url, config.newerSchema);
    return config.databaseUrl;
  }
  const embedded = await startEmbeddedPostgres({ world, log }, { dir: join(config.home, 'postgres') });
  onStop(() => embedded.stop());
  await migrate({ log }, embedded.url);
  return openRunRole(world, embedded.url);
}

type Promised<T> = T | Promise<T>;

/** Starts the work of the node's roles. The returned function stops the work, and may be called more than once. */
async function startWorkers(parts: Parts, sandbox: OwnSandbox | undefined): Promise<() => Promise<void>> {
  const { config, world } = parts;
  const fetchImage = createImageFetcher(world);
  const starts: Readonly<Record<Role, () => Promised<() => Promise<void>>[]>> = {
    api: () => [startJobs(parts, usesJobs(parts))],
    relay: () => [
      startRelaying({
        ...parts,
        relaying: { ...gasBudgets(config), minBalance: (network) => minBalanceOn(config, network) },
      }),
    ],
    watch: () => [
      startWatching({
        ...parts,
        watching: {
          // The sandbox chain is short and may be older than the database, so it is read from its first block. Block 0 would be
          // too early: the first block creates the floats of the demo and pays the gas of its approvals, and the opening balance
          // must include both.
          startAt: (network) => (network === SANDBOX_NETWORK ? SANDBOX_FIRST_BLOCK : undefined),
          sweepFrom: (network) => depositMinimumOn(config, network),
          toleranceBasisPoints: () => config.depositTolerance,
        },
      }),
    ],
    jobs: () => [
      startPlacing(parts),
      startDelivering({ ...parts, exchangeFor: openReceivers(parts) }),
      startBookkeeping(parts),
      ...startPost(parts),
      startJobs(parts, [
        ...housekeepingJobs(parts),
        pruneDeliveriesJob(parts, { keptDays: config.webhookKeptDays }),
        { name: 'rescreen-payers', everyMs: RESCREEN_MS, run: createRescreener(parts) },
        ...payingOutJobs({ ...parts, sweepFrom: (network) => depositMinimumOn(config, network) }),
        ...mailJobs(parts, {
          keptDays: config.mailsKeptDays,
          alerts: { recipients: config.alertEmails, publicUrl: config.publicUrl },
        }),
        ...(sandbox === undefined ? [] : sandboxJobs(parts, sandbox)),
        { name: 'copy-logos', everyMs: COPY_LOGOS_MS, run: () => copyLogos({ ...parts, fetchImage }) },
      ]),
    ],
  };
  const own = startJobs(parts, checks({ ...parts, relaying: gasBudgets(config) }));
  const stops = await Promise.all([own, ...config.roles.flatMap((role) => starts[role]())]);
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

function startPost(parts: Parts): (() => Promise<void>)[] {
  const { smtp, mailFrom } = parts.config;
  if (smtp === undefined || mailFrom === undefined) return [];
  return [startMailing({ ...parts, mailer: createMailer(parts.world, smtp, mailFrom) })];
}

/**
 * Starts the sandbox chain of this gateway if it needs one. The promise is awaited later, so that chain and database start in
 * parallel.
 */
function startOwnChain(base: { config: Config; world: World; log: Logger }, onStop: OnStop) {
  const { config } = base;
  if (!needsOwnChain(config)) return undefined;
  const dir = join(config.home, 'chain');
  const { sandboxRpcPort: port, sandboxBlockMs: blockMs, publicUrl: pageOrigin } = config;
  const starting = startSandboxChain(base, { dir, port, blockMs, pageOrigin });
  onStop(() => starting.then((chain) => chain.stop(), ignore));
  // A failure is reported where the promise is awaited. Until then it must not count as an unhandled rejection.
  starting.catch(ignore);
  return starting;
}

/** Resolves at the first signal. Later signals end the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let stage: 'running' | 'asked' | 'impatient' = 'running';
    const onSignal = () => {
      if (stage === 'impatient') process.exit(1);
      if (stage === 'asked') return;
      stage = 'asked';
      systemWorld.timers.after(SAME_SIGNAL_MS, () => {
        stage = 'impatient';
      });
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/**
 * Makes an unexpected error end the process, because the state of the process is then unknown. The next start recovers from the
 * database.
 */
function crashOnSurprise(report: (error: unknown, text: string) => void): void {
  const crash = (error: unknown) => {
    report(error, 'unexpected error: stopping');
    setImmediate(() => process.exit(1));
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}

function refuse(error: unknown): never {
  process.stderr.write(`Till cannot start: ${startRefusal(error)}\n`);
  process.exit(1);
}
