import type { ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemWorld } from '../src/runtime/system-world.ts';
import { startEmbeddedPostgres } from '../src/sandbox/embedded-postgres.ts';
import { type Database, openDatabase, type Reader } from '../src/store/plumbing/database.ts';
import { prepareCounting } from './database-counts.ts';
import { freePort, gatewayArgs, startProcess, stopProcess, until } from './processes.ts';
import { makeFolder, removeFolder } from './temporary.ts';

/** A gateway in a separate process with its own database, as an operator would run it. */
export interface Gateway {
  readonly port: number;
  readonly pid: number;
  readonly apiKey: string;
  /** Signs the owner of the partner in to the dashboard, once. */
  readonly dashboardUrl: string;
  /** A separate connection, to prepare rows and to inspect the database. */
  readonly sql: Reader;
  /** The same connection, for statements of the gateway. */
  readonly single: Database['single'];
  readonly databaseUrl: URL;
  /** Ends the process, runs the work alone on the database, and starts a new process on the same data. */
  restart(work?: (sql: Reader) => Promise<void>): Promise<Gateway>;
  /** Ends the process and removes the data. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;
const STATS_FOLDED_WITHIN_MS = 60_000;

/** Only the settings that the load needs: higher rate limits for a single caller, and no log line per request. */
export const HIGH_LIMITS = {
  LOG_LEVEL: 'warn',
  METRICS_PORT: '0',
  RATE_LIMIT_KEY_PER_SECOND: '1000000',
  RATE_LIMIT_ADDRESS_PER_SECOND: '1000000',
  SURVEY_ACCOUNTS_PER_KEY: '1000000',
  SURVEY_ACCOUNTS_PER_ADDRESS: '1000000',
  LONG_POLLS_PER_KEY: '20000',
  LIST_COST_MS_PER_SECOND: '1000000',
  LIST_TIMEOUT_MS: '15000',
};

/** The limits as an operator has them without any setting. */
export const USUAL_LIMITS = { LOG_LEVEL: 'warn', METRICS_PORT: '0' };

/** The master secret of gateways under load, with which keys can be issued beside them. */
export const BENCH_SECRET = new Uint8Array(32).map((_, index) => index);

export async function startGateway(
  settings: Readonly<Record<string, string>> = HIGH_LIMITS,
  inspectPort?: number,
): Promise<Gateway> {
  const home = await makeFolder();
  if (inspectPort !== undefined) await withDatabaseAlone(home, prepareCounting);
  return launch(home, settings, inspectPort);
}

async function launch(
  home: string,
  settings: Readonly<Record<string, string>>,
  inspectPort?: number,
): Promise<Gateway> {
  const port = await freePort();
  await rm(join(home, 'sandbox.json'), { force: true });
  const child = startProcess(gatewayArgs(inspectPort), {
    TILL_SECRET: Buffer.from(BENCH_SECRET).toString('base64'),
    ...settings,
    TILL_HOME: home,
    PORT: String(port),
  });
  const { apiKey, dashboardUrl } = await until('the gateway is ready', () => readySandbox(child, home, port), {
    withinMs: READY_WITHIN_MS,
  });
  const connection = JSON.parse(await readFile(join(home, 'postgres', 'connection.json'), 'utf8')) as { url: string };
  const db = openBeside(connection.url);
  const end = async () => {
    await db.close();
    await stopProcess(child);
  };
  return {
    port,
    pid: child.pid ?? 0,
    apiKey,
    dashboardUrl,
    sql: db.sql,
    single: db.single,
    databaseUrl: new URL(connection.url),
    restart: async (work) => {
      await end();
      if (work !== undefined) await withDatabaseAlone(home, work);
      return launch(home, settings);
    },
    stop: async () => {
      await end();
      await removeFolder(home);
    },
  };
}

/** For loading millions of rows, which leaves no time for the gateway's own jobs. */
export async function withDatabaseAlone(home: string, work: (sql: Reader) => Promise<void>): Promise<void> {
  const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
  const settings = {
    max_wal_size: '16GB',
    checkpoint_timeout: '30min',
    maintenance_work_mem: '1GB',
    work_mem: '128MB',
  };
  const server = await startEmbeddedPostgres(deps, { dir: join(home, 'postgres'), settings });
  const db = openBeside(server.url);
  try {
    await work(db.sql);
    await db.sql`checkpoint`;
  } finally {
    await db.close();
    await server.stop();
  }
}

/** One connection without a statement timeout, for loading millions of rows. */
export function openBeside(url: string): Database {
  return openDatabase({ url, poolSize: 1, applicationName: 'till-bench', statementTimeoutMs: 0 });
}

async function readySandbox(child: ChildProcess, home: string, port: number) {
  if (child.exitCode !== null) throw new Error('The gateway ended at its start.');
  const text = await readFile(join(home, 'sandbox.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
  return answer?.ok ? (JSON.parse(text) as { apiKey: string; dashboardUrl: string }) : undefined;
}

/** The id of the merchant with this number, from 1. A plain formula, so that every load generator can compute it. */
export function merchantId(number: number): string {
  return `mrch_${String(number).padStart(26, '0')}`;
}

/** Merchants of the key's partner. */
export async function addMerchants({ sql }: Gateway, count: number): Promise<void> {
  await sql`
    insert into merchants (id, partner_id, mode, name, email, status, created_at, updated_at)
    select 'mrch_' || lpad(n::text, 26, '0'), p.id, 'test', 'Shop ' || n, 'shop@example.com', 'active', now(), now()
    from partners p, generate_series(1, ${count}::int) n
    on conflict do nothing`;
}

/**
 * Brings the database to rest, so that neither side of a comparison does the other's work: the pending changes of the
 * statistics are folded, the events are placed, the planner knows the sizes of the tables, and all writes are flushed to
 * disk. Returns the number of changes and batches of events that were pending.
 */
export async function settle({ sql }: Pick<Gateway, 'sql'>): Promise<number> {
  const waiting = async () =>
    Number(
      (
        await sql<{ count: string }[]>`
          select (select count(*) from payment_stat_changes) + (select count(*) from outbox) as count`
      )[0]?.count ?? 0,
    );
  const left = await waiting();
  await until(
    'the statistics are folded and the events placed',
    async () => ((await waiting()) === 0 ? true : undefined),
    {
      withinMs: STATS_FOLDED_WITHIN_MS,
      everyMs: 200,
    },
  );
  // Autovacuum does so within a minute. Until then plans stay as they were made for empty tables.
  await sql`analyze`;
  await sql`checkpoint`;
  return left;
}
