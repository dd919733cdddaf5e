import { randomBytes } from 'node:crypto';
import { openDatabase } from '../src/store/plumbing/database.ts';
import type { Reader } from '../src/store/plumbing/statement.ts';
import { closeConnections, keepConnections, keptProcesses } from './kept-connections.ts';
import { describeNew, type NewDatabase, restore } from './restored-database.ts';

/** Passes the URL of the test run's PostgreSQL to the processes of the test files. */
export const TEST_SERVER = 'TILL_TEST_SERVER';
const TEMPLATE = 'till_template';
/** Copied files take a third of the time of copied pages where files are in memory. */
const FROM_TEMPLATE = `template ${TEMPLATE} strategy file_copy`;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Databases that earlier tests have dropped, restored to the state of new ones. */
const restored: string[] = [];
let described: NewDatabase | undefined;

/**
 * A migrated database for the caller: a new one, or one that an earlier test of this process has dropped. Each suite opens its own
 * connections to it, in hooks that are alike: the number of connections and the order of the end differ.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = restored.pop() ?? (await create(FROM_TEMPLATE));
  const url = urlOf(name);
  keepConnections(url);
  described ??= await on(url, describeNew);
  const asNew = described;
  let dropped: Promise<void> | undefined;
  const restoreOrDrop = async () => {
    const kept = await keptProcesses(url);
    const isRestored = await on(url, (sql) => restore(sql, asNew, kept)).catch(() => false);
    if (isRestored) restored.push(name);
    else await drop(name);
  };
  return {
    url,
    drop() {
      dropped ??= restoreOrDrop();
      return dropped;
    },
  };
}

/** A migrated database that no test has used: rows without an order have the same order in each. */
export function createUnusedDatabase(): Promise<TestDatabase> {
  return createOnce(FROM_TEMPLATE);
}

/** The same database without the usual timeout for connections: a busy machine keeps them waiting, a simulation stops time. */
export function patient(url: string): string {
  return `${url}?connect_timeout=0`;
}

/** An empty database. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createOnce('');
}

export async function makeTemplate(migrate: (url: string) => Promise<void>): Promise<void> {
  await asAdministrator((sql) => sql.unsafe(`create database ${TEMPLATE}`));
  await migrate(urlOf(TEMPLATE));
}

async function createOnce(options: string): Promise<TestDatabase> {
  const name = await create(options);
  return { url: urlOf(name), drop: () => drop(name) };
}

async function create(options: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdministrator((sql) => sql.unsafe(`create database ${name} ${options}`));
  return name;
}

async function drop(name: string): Promise<void> {
  await closeConnections(urlOf(name));
  await asAdministrator((sql) => sql.unsafe(`drop database if exists ${name} with (force)`));
}

/** A separate connection of the test without timeouts: it may hold locks and run any statement. */
export interface TestConnection extends Reader {
  end(): Promise<void>;
}

export function connectTo(url: string): TestConnection {
  const db = openDatabase({ url, poolSize: 1, applicationName: 'till-test', statementTimeoutMs: 0 });
  return Object.assign(db.sql, { end: db.close });
}

function asAdministrator(run: (sql: Reader) => Promise<unknown>): Promise<unknown> {
  return on(urlOf('postgres'), run);
}

async function on<T>(url: string, run: (sql: Reader) => Promise<T>): Promise<T> {
  const sql = connectTo(patient(url));
  try {
    return await run(sql);
  } finally {
    await sql.end();
  }
}

function urlOf(database: string): string {
  const server = process.env[TEST_SERVER];
  if (server === undefined) throw new Error('Run the tests with --test-global-setup=test/global-setup.ts.');
  return Object.assign(new URL(server), { pathname: `/${database}` }).href;
}
