import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';
import { syncFolder } from './state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A database as the programs of PostgreSQL are given it: the password is never on a command line, where every account could read it. */
interface Target {
  readonly url: string;
  readonly environment: Environment;
}

/** The role that owns the tables. PgBouncer in transaction mode has no sessions, which the programs of PostgreSQL need. */
export function ownerUrl(settings: Environment): string | undefined {
  return settings.DATABASE_MIGRATE_URL || settings.DATABASE_DIRECT_URL || settings.DATABASE_URL;
}

/** Writes a backup of the whole database that `pg_restore` can read, or leaves nothing. */
export async function backUp(url: string, folder: string, name: string): Promise<string> {
  for (const left of (await readdir(folder)).filter((file) => file.endsWith('.dump.part')))
    await rm(join(folder, left));
  const file = join(folder, `${name}.dump`);
  const part = `${file}.part`;
  const target = targetOf(url);
  try {
    await runProgram('pg_dump', ['--format=custom', `--file=${part}`, `--dbname=${target.url}`], target.environment);
    // Reads the table of contents, which pg_dump writes last.
    await runProgram('pg_restore', ['--list', part]);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  const written = await open(part, 'r+');
  await written.chmod(0o600);
  await written.sync();
  await written.close();
  await rename(part, file);
  await syncFolder(folder);
  return file;
}

/**
 * Lets a release migrate a database that has the schema of this one, and none of its rows but those that list the migrations. The
 * copy has a name of its own on the same server, and is removed afterwards; one that an interrupted run has left is removed first.
 */
export async function onSchemaCopy(url: string, migrate: (copyUrl: string) => Promise<void>): Promise<void> {
  const target = targetOf(url);
  const name = `${databaseOf(url)}_update_check`;
  const copy = targetOf(withDatabase(url, name));
  const drop = ['--if-exists', '--force', `--maintenance-db=${target.url}`, name];
  await runProgram('dropdb', drop, target.environment);
  await runProgram('createdb', [`--maintenance-db=${target.url}`, '--template=template0', name], target.environment);
  try {
    const plain = [
      '--no-owner',
      '--no-publications',
      '--no-subscriptions',
      '--no-tablespaces',
      `--dbname=${target.url}`,
    ];
    for (const part of [['--schema-only'], ['--data-only', '--table=public.migrations']]) {
      const sql = await runProgram('pg_dump', [...part, ...plain], target.environment);
      const psql = ['--quiet', '--no-psqlrc', '--set=ON_ERROR_STOP=1', `--dbname=${copy.url}`];
      await runProgram('psql', psql, copy.environment, sql);
    }
    await migrate(withDatabase(url, name));
  } finally {
    await runProgram('dropdb', drop, target.environment);
  }
}

function targetOf(url: string): Target {
  const [, head = '', password = '', tail = ''] = /^([^:]+:\/\/[^:@/]*):([^@]*)(@.*)$/.exec(url) ?? [];
  if (head === '') return { url, environment: {} };
  return { url: `${head}${tail}`, environment: { PGPASSWORD: decodeURIComponent(password) } };
}

const DATABASE = /^([^:]+:\/\/[^/]+)\/([^?]*)(\?.*)?$/;

function databaseOf(url: string): string {
  return decodeURIComponent(DATABASE.exec(url)?.[2] ?? '') || 'till';
}

function withDatabase(url: string, name: string): string {
  const [, server = url, , query = ''] = DATABASE.exec(url) ?? [];
  return `${server}/${encodeURIComponent(name)}${query}`;
}
