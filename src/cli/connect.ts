import { join } from 'node:path';
import type { RegistryDeps } from '../chains/registry.ts';
import type { Origin } from '../domain/origin.ts';
import { ApiError } from '../errors.ts';
import { createFollowedClock } from '../runtime/followed-clock.ts';
import { shiftClock } from '../runtime/shifted-clock.ts';
import type { Clock, Log, World } from '../runtime/world.ts';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../sandbox/embedded-postgres.ts';
import { HomeInUseError, lockHome } from '../sandbox/home-lock.ts';
import { isSandbox } from '../settings/chains.ts';
import type { Config } from '../settings/config.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';
import { migrate, migrationState } from '../store/plumbing/migrate.ts';
import { findPrimary } from '../store/plumbing/primary.ts';
import { findClockShift, readDatabaseTime } from '../store/plumbing/sandbox-clock.ts';
import type { Terminal } from './terminal.ts';

export interface Context {
  readonly config: Config;
  readonly world: World;
  readonly log: Log;
  /** The machine, the account and the SSH session that run the command. */
  readonly origin: Origin;
  /** True if database commands use the database's time, as nodes do. False in tests: they use the time of `world`. */
  readonly followsDatabase: boolean;
  /** The values of the command line, with durations counted from `nowMs`. */
  readonly valuesAt: (nowMs: number) => Readonly<Record<string, unknown>>;
  /** All environment variables, for the few that are not settings of the gateway. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line at once, for commands that keep running. Other commands return their output. */
  readonly print: (json: object, text: string) => void;
  /** The terminal for questions. Undefined if no person is there to answer. */
  readonly terminal?: Terminal | undefined;
  /** Returns a signal that Ctrl-C aborts. After this call, the first Ctrl-C only aborts the signal, and does not end the process. */
  readonly untilInterrupted: () => AbortSignal;
}

export interface OperatorDeps extends Context, RegistryDeps {
  readonly db: Database;
}

export interface Connection {
  readonly url: string;
  /** The database URL with the role that may change the schema. */
  readonly migrateUrl: string;
  /** True if the embedded server was started for this command. `close` then stops it. */
  readonly isOurs: boolean;
  close(): Promise<void>;
}

// Bounds of the wait for a locked home folder. The lock belongs to a starting gateway, whose database server answers soon, or to
// another command, which ends soon.
const HOME_TRIES = 40;
const HOME_PAUSE_MS = 250;

/**
 * Connects to the database, checks that its schema is the right one, and runs `work`. Only a server that was started for this
 * command is migrated; a shared database never is.
 */
export async function withDatabase<T>(context: Context, work: (deps: OperatorDeps) => Promise<T>): Promise<T> {
  const connection = await connect(context);
  try {
    if (connection.isOurs) await migrate(context, connection.url);
    return await onPool(connection, async (db) => {
      if (!connection.isOurs) await requireMigrated(context, db);
      return work({ ...context, registry: context.config.registry, db, world: await worldOf(context, db) });
    });
  } finally {
    await connection.close();
  }
}

/**
 * The clock, the timers and the randomness of a command. Like nodes, commands use the database's time, so a change takes effect
 * at the time that the operator gave. Commands in a sandbox use the sandbox's time. A database URL alone does not show whether
 * the database belongs to a sandbox, so the settings must show it.
 */
export async function worldOf({ config, world: own, followsDatabase }: Context, db: Database): Promise<World> {
  const world = followsDatabase ? { ...own, clock: await databaseClock(own.clock, db) } : own;
  const isKnown = config.databaseUrl === undefined || config.rpcUrls !== undefined || config.sandbox === true;
  if (!isKnown || !isSandbox(config)) return world;
  const { aheadMs } = await findClockShift(db.sql);
  return { ...world, clock: shiftClock(world.clock, () => aheadMs) };
}

async function databaseClock(machine: Clock, db: Database): Promise<Clock> {
  const clock = createFollowedClock(machine);
  const askedAtMs = machine.nowMs();
  const theirMs = await readDatabaseTime(db.sql);
  clock.take({ askedAtMs, answeredAtMs: machine.nowMs(), theirMs });
  return clock;
}

/** The URL of the configured server, or else of the embedded server of a running gateway. Starts no server. */
export async function findServer({ config }: Pick<Context, 'config'>): Promise<string | undefined> {
  const { databaseUrl, databaseDirectUrl = databaseUrl, home } = config;
  return databaseDirectUrl ?? runningEmbeddedPostgres(join(home, 'postgres'));
}

/**
 * Connects to the configured server, or else to the embedded server of a running gateway, or else to a server that is started for
 * the command.
 */
export async function connect({ config, world, log }: Context): Promise<Connection> {
  if (config.databaseUrl !== undefined) {
    return shared(config.databaseDirectUrl ?? config.databaseUrl, config.databaseMigrateUrl);
  }
  const dir = join(config.home, 'postgres');
  for (let tries = 1; ; tries += 1) {
    const url = await runningEmbeddedPostgres(dir);
    if (url !== undefined) return shared(url);
    try {
      const release = await lockHome(config.home, world.timers);
      return await startOurs({ world, log }, { dir, release });
    } catch (error) {
      if (!(error instanceof HomeInUseError) || tries >= HOME_TRIES) throw error;
    }
    await world.timers.sleep(HOME_PAUSE_MS);
  }
}

export async function onPool<T>(connection: Connection, work: (db: Database) => Promise<T>): Promise<T> {
  const { url } = await findPrimary(connection.url);
  const db = openDatabase({ url, poolSize: 2, applicationName: 'till-operator' });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

const STATEMENT_MS = 5_000;

/** Opens a read-only connection, for `till doctor`. */
export async function openForReading(url: string, applicationName: string): Promise<Database> {
  return openDatabase({
    url: (await findPrimary(url)).url,
    poolSize: 3,
    applicationName,
    statementTimeoutMs: STATEMENT_MS,
    settings: { default_transaction_read_only: 'on' },
  });
}

function shared(url: string, migrateUrl = url): Connection {
  return { url, migrateUrl, isOurs: false, close: async () => {} };
}

async function startOurs(
  deps: Pick<Context, 'world' | 'log'>,
  { dir, release }: { dir: string; release: () => Promise<void> },
): Promise<Connection> {
  try {
    const server = await startEmbeddedPostgres(deps, { dir });
    const close = async () => {
      try {
        await server.stop();
      } finally {
        await release();
      }
    };
    return { url: server.url, migrateUrl: server.url, isOurs: true, close };
  } catch (error) {
    await release();
    throw error;
  }
}

export async function requireMigrated({ config }: Pick<Context, 'config'>, db: Database): Promise<void> {
  const { missing } = await migrationState(db.sql, config.newerSchema);
  if (missing.length === 0) return;
  throw new ApiError(
    'invalid_state',
    'The database does not have the schema of this version yet: run `npm run till -- migrate` first.',
  );
}
