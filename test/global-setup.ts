import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemWorld } from '../src/runtime/system-world.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/sandbox/embedded-postgres.ts';
import { migrate } from '../src/store/plumbing/migrate.ts';
import { missingBrowser } from './browser/chromium.ts';
import { makeTemplate, TEST_SERVER } from './database.ts';
import { missingDebianPostgres } from './debian-postgres.ts';
import { missingHaproxy } from './haproxy.ts';
import { missingPhp, missingPython } from './interpreters.ts';
import { missingPgBouncer } from './pgbouncer.ts';
import { missingPoppler } from './poppler.ts';

const PROGRAMS = [
  missingBrowser,
  missingHaproxy,
  missingPgBouncer,
  missingDebianPostgres,
  missingPhp,
  missingPython,
  missingPoppler,
];

let server: EmbeddedPostgres | undefined;
let folder: string | undefined;

/** One real PostgreSQL for the whole run, with a migrated database that tests clone. */
export async function globalSetup(): Promise<void> {
  // One after the other: two installations at a time would wait for the same lock.
  for (const isMissing of PROGRAMS) isMissing();
  const log = pino({ level: 'warn' });
  folder = await mkdtemp(join(await temporaryFolder(), 'till-test-'));
  await chmod(folder, 0o777);
  // The tests put their own folders there.
  process.env.TMPDIR = folder;
  server = await startEmbeddedPostgres({ world: systemWorld, log }, { dir: join(folder, 'postgres'), settings: FAST });
  process.env[TEST_SERVER] = server.url;
  await makeTemplate((url) => migrate({ log }, url));
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

/**
 * No durability is needed: these databases are temporary. A statement is planned once for each connection: most tests
 * run a statement a few times, and planning took a third of the server's time.
 */
const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  max_connections: '600',
  plan_cache_mode: 'force_generic_plan',
  // A database with statistics is not as new: its statements are planned otherwise.
  autovacuum: 'off',
};

const RAM_DISK = '/dev/shm';
const NEEDED_BYTES = 6 * 1024 ** 3;

/** The folder for temporary files: in memory if that has room, as every test clones a database of hundreds of files. */
async function temporaryFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(RAM_DISK).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= NEEDED_BYTES ? RAM_DISK : tmpdir();
}
