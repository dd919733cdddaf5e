import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { openNodes, SERVER_CONNECTIONS } from '../../test/crash/nodes-scene.ts';
import { connectTo } from '../../test/database.ts';
import { startPgBouncer } from '../../test/pgbouncer.ts';
import { PASSWORD_ROLES, startReplicatedPostgres } from '../../test/replicated-postgres.ts';
import { until } from '../../test/until.ts';
import { till } from './run-command.ts';

export type GuardedScene = Awaited<ReturnType<typeof openGuardedNodes>>;

/**
 * Three nodes behind HAProxy, on PgBouncer and a PostgreSQL with a synchronous standby, which use the run role. Both servers ask for
 * its password.
 */
export async function openGuardedNodes() {
  const servers = await startReplicatedPostgres();
  const [first, second] = PASSWORD_ROLES;
  const passwords: Record<string, string> = { [first]: newPassword() };
  const pgBouncer = await startPgBouncer(servers.primary.url, { serverConnections: SERVER_CONNECTIONS, passwords });
  const settingsOf = (role: string) => ({
    DATABASE_URL: withRole(pgBouncer.url, role, passwords[role] ?? ''),
    DATABASE_DIRECT_URL: withRole(servers.url, role, passwords[role] ?? ''),
  });
  const stop = async () => {
    await pgBouncer.stop();
    await servers.stop();
  };
  try {
    const owner = { DATABASE_URL: servers.primary.url };
    await till(owner, 'migrate');
    await till(owner, 'database', 'roles', '--apply');
    await asOwner((sql) => sql.unsafe(`alter role ${first} password '${passwords[first]}'`));
  } catch (error) {
    await stop();
    throw error;
  }
  const scene = await openNodes({ settings: settingsOf(first), stop });
  return { ...scene, prepareNextRole, closeFirstRole };

  async function asOwner(work: (sql: ReturnType<typeof connectTo>) => Promise<unknown>): Promise<void> {
    const sql = connectTo(servers.primary.url);
    await work(sql).finally(() => sql.end());
  }

  /** A second role with the rights of the first one and a password of its own. Returns the settings that name it. */
  async function prepareNextRole() {
    passwords[second] = newPassword();
    await asOwner((sql) => sql.unsafe(`create role ${second} login password '${passwords[second]}' in role ${first}`));
    await pgBouncer.admit(passwords);
    const settings = settingsOf(second);
    await until('PgBouncer admits the next role', () => isAdmitted(settings.DATABASE_URL));
    return settings;
  }

  /** Ends the first role for PostgreSQL and PgBouncer, and shows that its password opens neither. */
  async function closeFirstRole() {
    const urls = [pgBouncer.url, servers.primary.url].map((url) => withRole(url, first, passwords[first] ?? ''));
    await asOwner(async (sql) => {
      await sql.unsafe(`alter role ${first} nologin password null`);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${first}`;
    });
    delete passwords[first];
    await pgBouncer.admit(passwords);
    for (const url of urls) await until('the old password is refused', async () => !(await isAdmitted(url)));
  }
}

/** Connects as a node does: PgBouncer refuses parameters of the start that other clients send. */
async function isAdmitted(url: string): Promise<boolean> {
  const db = openDatabase({ url, directUrl: url, poolSize: 1, applicationName: 'till-drill' });
  try {
    await db.sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await db.close();
  }
}

/** Letters and digits, which need no quoting. */
const newPassword = () => randomBytes(24).toString('hex');

function withRole(url: string, role: string, password: string): string {
  return url.replace(/\/\/(till@)?/, `//${role}:${password}@`);
}
