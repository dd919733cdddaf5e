import {
  chmod,
  chown,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  truncate,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Log, Random } from '../runtime/world.ts';
import { type Account, type Launcher, runTool } from './postgres-account.ts';

export interface PostgresFolder {
  readonly dir: string;
  readonly data: string;
  readonly password: string;
  readonly connection: string;
  readonly log: string;
}

const HALF_MADE = 'initdb-';
const PASSWORD_BYTES = 24;
const MAX_LOG_BYTES = 8 * 1024 * 1024;

export function postgresFolder(dir: string): PostgresFolder {
  const inside = (name: string) => join(dir, name);
  return {
    dir,
    data: inside('data'),
    password: inside('password'),
    connection: inside('connection.json'),
    log: inside('server.log'),
  };
}

/**
 * Creates the folder. If the gateway runs as root, root owns the folder and the database account may only pass through it. So the
 * account cannot place links at the paths where root writes the password, the connection and the log.
 */
export async function openFolder(dir: string, account: Account | undefined): Promise<PostgresFolder> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // A running server is recognised by the path in its command line, so every start must spell the path the same way.
  const folder = postgresFolder(await realpath(dir));
  if (account) {
    await chown(folder.dir, 0, account.gid);
    await chmod(folder.dir, 0o710);
  } else {
    await refuseForeignOwner(folder.dir);
  }
  return folder;
}

/** Creates the database once: a cluster with checksums and the database `till`, owned by the role `till`. */
export async function ensureData(
  deps: { readonly random: Random; readonly log: Log },
  input: {
    readonly folder: PostgresFolder;
    readonly launcher: Launcher;
    readonly account: Account | undefined;
    readonly programs: { readonly initdb: string; readonly postgres: string };
  },
): Promise<{ readonly password: string }> {
  const { folder, launcher, programs } = input;
  await removeHalfMade(deps, folder);
  const known = (await readIfThere(folder.password))?.trim();
  const password = known || Buffer.from(deps.random.bytes(PASSWORD_BYTES)).toString('base64url');
  const hasCluster = (await readIfThere(join(folder.data, 'PG_VERSION'))) !== undefined;
  if (!hasCluster) {
    // The password is written first, so that a kill cannot leave a cluster with an unknown password.
    if (!known) await writeWhole(folder.password, `${password}\n`);
    await createCluster(deps, { ...input, password });
    return { password };
  }
  if (input.account) await giveTo(folder.data, input.account);
  else await refuseForeignOwner(folder.data);
  if (!known) {
    deps.log.warn({ file: folder.password }, 'the database password was missing: setting a new one');
    await runSingleUser(launcher, programs.postgres, folder.data, `alter role till password '${password}'`);
    // The file is written after the password was changed in the database. If the process is killed between the two steps, the file
    // is missing, and the next start repeats both.
    await writeWhole(folder.password, `${password}\n`);
  }
  return { password };
}

/** Builds the cluster in a temporary folder and moves it into place, so that a kill leaves nothing that looks like a database. */
async function createCluster(
  deps: Parameters<typeof ensureData>[0],
  input: Parameters<typeof ensureData>[1] & { readonly password: string },
): Promise<void> {
  const { folder, launcher, account, programs, password } = input;
  const aside = join(folder.dir, `${HALF_MADE}${Buffer.from(deps.random.bytes(8)).toString('hex')}`);
  const data = join(aside, 'data');
  const passwordFile = join(aside, 'password');
  await openFolder(aside, account);
  await mkdir(data, { mode: 0o700 });
  await writeWhole(passwordFile, `${password}\n`);
  if (account) {
    await chown(data, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }

  deps.log.info({ dir: folder.dir }, 'creating the embedded database');
  const args = ['-D', data, '-U', 'till', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--data-checksums'];
  // The builtin provider sorts and folds case the same way on every machine and with every C library. The C library's own locale is
  // plain "C", because not every machine has "C.UTF-8".
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const made = await runTool(launcher, programs.initdb, [...args, ...locale]);
  if (!made.isOk) {
    throw new Error(
      `The embedded database could not be created in ${folder.dir}: ${made.output}. ` +
        'Correct this, or set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
  await runSingleUser(launcher, programs.postgres, data, 'create database till');

  await rename(data, folder.data);
  await syncFolder(folder.dir);
  await syncFolder(dirname(folder.dir));
  await rm(aside, { recursive: true, force: true });
}

/**
 * Removes the temporary folders of killed starts. No other start is running, because the caller holds the home lock. But a process
 * of a killed start may still write into its folder for a moment. So every start uses a new folder, and a folder that cannot be
 * deleted now is left for the next start.
 */
async function removeHalfMade(deps: { readonly log: Log }, folder: PostgresFolder): Promise<void> {
  const names = (await readdir(folder.dir)).filter((name) => name.startsWith(HALF_MADE));
  for (const name of names) {
    await rm(join(folder.dir, name), { recursive: true, force: true }).catch((error) =>
      deps.log.warn({ err: error }, 'the remains of a killed first start could not be deleted yet'),
    );
  }
}

/** Runs one statement while no server runs. The statement is passed on standard input, so that it does not appear in process lists. */
async function runSingleUser(launcher: Launcher, postgres: string, data: string, statement: string): Promise<void> {
  const args = ['--single', '-D', data, '-c', 'exit_on_error=on', 'postgres'];
  const result = await runTool(launcher, postgres, args, `${statement};\n`);
  if (!result.isOk) throw new Error(`The embedded database in ${data} could not be prepared: ${result.output}`);
}

/**
 * Gives the data files to the account, because PostgreSQL requires that its account owns them. The files may come from a backup, or
 * from a start as another user.
 */
async function giveTo(data: string, account: Account): Promise<void> {
  if ((await stat(data)).uid === account.uid) return;
  const result = await runTool({ prefix: [] }, 'chown', ['-R', `${account.uid}:${account.gid}`, data]);
  if (!result.isOk) throw new Error(`Could not give ${data} to user id ${account.uid}: ${result.output}`);
}

async function refuseForeignOwner(path: string): Promise<void> {
  const owner = (await stat(path)).uid;
  const self = process.getuid?.() ?? owner;
  if (owner === self) return;
  throw new Error(
    `The embedded database's folder ${path} belongs to user id ${owner}, and this gateway runs as user id ${self}. ` +
      'Start it as that user or as root, or set TILL_HOME to another folder.',
  );
}

/**
 * Keeps a log within two files of 8 MiB. The server opens the log for appending, so the log can be emptied while the server runs.
 * A few lines written between copying and emptying may be lost.
 */
export async function boundLog(path: string): Promise<void> {
  const size = (await stat(path).catch(unlessMissing))?.size ?? 0;
  if (size <= MAX_LOG_BYTES) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}

/** Writes a private file atomically: a reader, or a start after a power cut, sees the whole text or the old file. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

export function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(unlessMissing);
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
