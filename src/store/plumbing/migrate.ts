import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../runtime/world.ts';
import { connect, connectionSettings, rowsOf, send } from './connection.ts';
import { renewGrants } from './database-roles.ts';
import { findPrimary } from './primary.ts';
import { sqlState } from './session.ts';
import { type Reader, readerOf, textOf } from './statement.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
/** The number of the advisory lock for migrations. It is arbitrary, and the same in every version of the gateway. */
const LOCK = 7_455_011;

/** The SQLSTATE `insufficient_privilege`. */
const NO_RIGHT = '42501';
const MAY_NOT_CHANGE =
  'The database does not have the schema of this version yet, and this role may not change it: set DATABASE_MIGRATE_URL, or run `npm run till -- migrate` with it.';
const MAY_NOT_READ =
  'The role of DATABASE_URL may not read the tables of the gateway: use the role till_run of `npm run till -- database roles --apply`, or the owner of the tables.';
/** The pause between two attempts to take the lock. It is short, because a concurrent index build waits for this statement. */
const ASK_AGAIN_S = 0.1;

const WITHOUT_TRANSACTION = '-- Without a transaction';

interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/** Matches the name of a migration after which no older version of the gateway may be started again. */
const ONE_WAY = /^\d{4}_one_way_/;

/** Thrown if a newer gateway has migrated the database, or if the database contains a migration that differs from ours. */
export class SchemaMismatchError extends Error {}

/**
 * Migrates the schema to this version. Files are applied in order, only forward, each in its own transaction. A lock lets any number of
 * nodes start at the same time. After a crash, the files that were already applied stay applied. A file that begins with `-- Without a
 * transaction` runs statement by statement, and runs again from its beginning after a crash. `newest` is set by an operator who goes back
 * to this version: the last migration of a newer version that is accepted.
 */
export async function migrate(deps: { log: Log }, url: string, newest?: string): Promise<void> {
  const migrations = await readMigrations();
  // The connection has no statement timeout: other nodes wait here for the migrating node, and an index build may take long.
  const { url: primaryUrl } = await findPrimary(url);
  const client = await connect(
    connectionSettings({ url: primaryUrl, applicationName: 'till-migrate', statementTimeoutMs: 0 }),
  );
  const sql = readerOf(async (statement) => rowsOf(await send(client, textOf(statement))));
  let isRead = false;
  try {
    // The run role may not create tables. It needs no such right while the schema is up to date.
    const { missing } = await migrationState(sql, newest);
    if (missing.length === 0) return;
    isRead = true;
    await takeLock(sql);
    await sql`
      create table if not exists migrations (
        id integer primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`;
    const applied = await sql<AppliedRow[]>`select id, name, sha256 from migrations order by id`;
    checkApplied(applied, migrations, newest);
    for (const migration of migrations.slice(applied.length)) {
      const isAlone = migration.sql.startsWith(WITHOUT_TRANSACTION);
      if (isAlone) for (const statement of statementsOf(migration)) await sql.unsafe(statement);
      await sql`begin`;
      if (!isAlone) await sql.unsafe(migration.sql);
      await sql`
        insert into migrations (id, name, sha256)
        values (${migration.id}, ${migration.name}, ${migration.sha256})`;
      await renewGrants(sql);
      await sql`commit`;
      deps.log.info({ migration: migration.name }, 'migration applied');
    }
  } catch (error) {
    if (sqlState(error) !== NO_RIGHT) throw error;
    throw new SchemaMismatchError(isRead ? MAY_NOT_CHANGE : MAY_NOT_READ);
  } finally {
    // The end of the connection releases the lock, and rolls back a migration that has failed.
    await client.end();
  }
}

/**
 * Takes the advisory lock by repeated attempts, not by waiting. A concurrent index build waits for all statements that began before it. A
 * statement that waited for the lock would block the index build of the node that has the lock, and PostgreSQL would end one of the two as
 * a deadlock.
 */
async function takeLock(sql: Reader): Promise<void> {
  for (;;) {
    const [row] = await sql<{ isTaken: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as "isTaken"`;
    if (row?.isTaken) return;
    await sql`select pg_sleep(${ASK_AGAIN_S})`;
  }
}

function statementsOf({ sql }: Migration): string[] {
  return sql.split(/;\s*\n/).filter((text) => text.trim() !== '');
}

/** The names of the applied and the missing migrations. Throws if this version cannot use the database. */
export async function migrationState(db: Reader, newest?: string): Promise<{ applied: string[]; missing: string[] }> {
  const known = await readMigrations();
  const [table] = await db<{ isThere: boolean }[]>`select to_regclass('migrations') is not null as "isThere"`;
  const applied = table?.isThere ? await db<AppliedRow[]>`select id, name, sha256 from migrations order by id` : [];
  checkApplied(applied, known, newest);
  return { applied: applied.map(({ name }) => name), missing: known.slice(applied.length).map(({ name }) => name) };
}

/**
 * The number of the newest migration of this version. It is read once: the files of a running version do not change, and monitors ask
 * often.
 */
let newestId: number | undefined;

/**
 * True if the schema has every migration of this version. A newer version may have migrated it further. Migrations keep everything that
 * running nodes of older versions use, so these nodes go on until they are replaced.
 */
export async function isMigrated(db: Reader): Promise<boolean> {
  newestId ??= (await readMigrations()).at(-1)?.id ?? 0;
  const [row] = await db<{ newest: number | null }[]>`select max(id) as newest from migrations`;
  return (row?.newest ?? 0) >= newestId;
}

interface AppliedRow {
  readonly id: number;
  readonly name: string;
  readonly sha256: string;
}

function checkApplied(applied: readonly AppliedRow[], known: readonly Migration[], newest: string | undefined): void {
  for (const [index, row] of applied.slice(0, known.length).entries()) {
    const ours = known[index];
    if (ours?.id !== row.id || ours.sha256 !== row.sha256) {
      throw new SchemaMismatchError(
        `The database holds migration ${row.name} in another form than this version's ${ours?.name}.`,
      );
    }
  }
  const newer = applied.slice(known.length).map(({ name }) => name);
  const last = newer.at(-1);
  if (last === undefined) return;
  const oneWay = newer.find((name) => ONE_WAY.test(name));
  if (newest !== undefined && numberOf(last) <= numberOf(newest) && oneWay === undefined) return;
  const wayOut =
    oneWay === undefined ? 'start that version instead' : `this version cannot run after ${oneWay}: start that version`;
  throw new SchemaMismatchError(`The database was migrated by a newer version of Till (it has ${last}): ${wayOut}.`);
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const sql = await readFile(join(FOLDER, name), 'utf8');
      const id = index + 1;
      if (Number(name.slice(0, 4)) !== id) throw new Error(`Migration ${name} breaks the numbering.`);
      return { id, name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
