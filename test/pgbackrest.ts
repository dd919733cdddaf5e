import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import {
  administrationUrl,
  initialize,
  missingDebianPostgres,
  openPlace,
  type Place,
  removePlace,
  runTool,
  type StartedServer,
  startServer,
  withConnection,
} from './debian-postgres.ts';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { until } from './until.ts';

const PGBACKREST: DebianProgram = { names: ['pgbackrest'], debianPackage: 'pgbackrest' };
const SERVER = 'primary';

export const missingPgBackRest = () => missingDebianPostgres() || missingProgram(PGBACKREST);

/** A PostgreSQL whose base backups and log pgBackRest keeps in a folder of its own. */
export interface ArchivedPostgres {
  readonly url: string;
  backUp(): Promise<void>;
  /** The bytes that the base backup takes in the repository. */
  backupSize(): Promise<number>;
  /** A moment, by the clock of the server, after everything that was committed. */
  moment(): Promise<string>;
  /** Waits until the log that was written so far is archived. */
  untilArchived(): Promise<void>;
  /** Kills the server, and removes its data. */
  lose(): Promise<void>;
  /** Restores the database as it was at a moment, and starts it at the same address. */
  restoreTo(moment: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  const place = await openPlace('archived');
  let server: StartedServer | undefined;
  const stop = async () => {
    await server?.end();
    await removePlace(place);
  };
  try {
    const port = String(await findPort(systemWorld.random));
    const backrest = await configure(place, port);
    const start = async () => {
      server = await startServer(place, SERVER, {
        port,
        // pgBackRest connects by it.
        unix_socket_directories: place.folder,
        archive_mode: 'on',
        archive_command: `${backrest.line} archive-push %p`,
      });
      return server;
    };
    await initialize(place, SERVER);
    const { url } = await start();
    await withConnection(administrationUrl({ url }), (sql) => sql.unsafe('create database till'));
    await backrest.run('stanza-create');
    return {
      url,
      stop,
      backUp: async () => void (await backrest.run('--type=full', 'backup')),
      async backupSize() {
        const [stanza] = JSON.parse(await backrest.run('--output=json', 'info')) as readonly Stanza[];
        return stanza?.backup.at(-1)?.info.repository.size ?? 0;
      },
      moment: () =>
        withConnection(url, async (sql) => {
          const [row] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
          return row?.at ?? '';
        }),
      untilArchived: () =>
        withConnection(url, async (sql) => {
          const [{ last = '' } = {}] = await sql<{ last: string }[]>`select pg_walfile_name(pg_switch_wal()) as last`;
          await until('the log is archived', async () => {
            const rows = await sql`select from pg_stat_archiver where last_archived_wal >= ${last}`;
            return rows.length === 1;
          });
        }),
      async lose() {
        await server?.end();
        await rm(join(place.folder, SERVER), { recursive: true });
      },
      async restoreTo(moment) {
        await backrest.run('--type=time', `--target=${moment}`, '--target-action=promote', 'restore');
        await start();
        await until('the restored server takes writes', () =>
          withConnection(url, async (sql) => {
            const [row] = await sql<{ isStandby: boolean }[]>`select pg_is_in_recovery() as "isStandby"`;
            return row?.isStandby === false;
          }),
        );
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Stanza {
  readonly backup: readonly { readonly info: { readonly repository: { readonly size: number } } }[];
}

/** Writes the configuration of pgBackRest. The command line, and a function that runs a command. */
async function configure(place: Place, port: string) {
  const { folder } = place;
  const file = join(folder, 'pgbackrest.conf');
  for (const name of ['repository', 'lock', 'spool', 'log']) await makeOwn(place, join(folder, name));
  await writeFile(
    file,
    `[global]
repo1-path=${folder}/repository
repo1-retention-full=2
lock-path=${folder}/lock
spool-path=${folder}/spool
log-path=${folder}/log
log-level-console=off
log-level-stderr=warn
log-level-file=off
start-fast=y
compress-type=lz4
[till]
pg1-path=${folder}/${SERVER}
pg1-port=${port}
pg1-socket-path=${folder}
pg1-user=till
pg1-database=postgres
`,
  );
  const program = programPath(PGBACKREST) ?? '';
  const common = [`--config=${file}`, '--stanza=till'];
  return {
    line: [program, ...common].join(' '),
    run: (...args: readonly string[]) => runTool(place, program, [...common, ...args]),
  };
}

async function makeOwn({ account }: Place, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (account !== undefined) await chown(folder, account.uid, account.gid);
}
