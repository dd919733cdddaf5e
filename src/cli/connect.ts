import { join } from 'node:path';
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

export interface Context {
  readonly config: Config;
  readonly world: World;
  readonly log: Log;
  /** Where the command runs. */
  readonly origin: Origin;
  /** True if commands on a database go by its time, as nodes do. False: by the time of `world`, as a test wishes. */
  readonly followsDatabase: boolean;
  /** The values of the command line, with spans that count from that time. */
  readonly valuesAt: (nowMs: number) => Readonly<Record<string, unknown>>;
  /** Variables that are no settings of a gateway. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line at once, of a command that goes on. The other commands return their output. */
  readonly print: (json: object, text: string) => void;
  /** Aborts at Ctrl-C, which then does not end the process by itself. */
  readonly untilInterrupted: () => AbortSignal;
}

export interface OperatorDeps extends Context {
  readonly db: Database;
}

export interface Connection {
  readonly url: string;
  /** The URL of the role that may change the schema. */
  readonly migrateUrl: string;
  /** True if the server runs for this command alone. */
  readonly isOurs: boolean;
  close(): Promise<void>;
}

// A gateway that is just starting holds the home folder before its server answers; another command gives it back soon.
const HOME_TRIES = 40;
const HOME_PAUSE_MS = 250;

/** Gives the work a database of the right version. A shared database is never migrated without being asked. */
export async function withDatabase<T>(context: Context, work: (deps: OperatorDeps) => Promise<T>): Promise<T> {
  const connection = await connect(context);
  try {
    if (connection.isOurs) await migrate(context, connection.url);
    return await onPool(connection, async (db) => {
      if (!connection.isOurs) await requireMigrated(db);
      return work({ ...context, db, world: await worldOf(context, db) });
    });
  } finally {
    await connection.close();
  }
}

/**
 * The time of commands is that of the database, as for nodes: what an operator sets begins when it says. The commands of a
 * sandbox go by its time. A database alone does not make a sandbox.
 */
async function worldOf({ config, world: own, followsDatabase }: Context, db: Database): Promise<World> {
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

/**
 * The configured server; else the embedded server of a running gateway; else the embedded server, started for the
 * command.
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

export async function requireMigrated(db: Database): Promise<void> {
  const { missing } = await migrationState(db.sql);
  if (missing.length === 0) return;
  throw new ApiError(
    'invalid_state',
    'The database does not have the schema of this version yet: run `npm run till -- migrate` first.',
  );
}
