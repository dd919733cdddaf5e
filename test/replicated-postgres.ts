import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  administrationUrl,
  initialize,
  missingDebianPostgres,
  openPlace,
  type Place,
  removePlace,
  runTool,
  type Server,
  type StartedServer,
  startServer,
  withConnection,
} from './debian-postgres.ts';
import { until } from './until.ts';

export const missingReplication = missingDebianPostgres;

/** Roles that prove who they are. The administrator does not. */
export const PASSWORD_ROLES = ['till_run', 'till_run_2'] as const;

const ACCESS = `host all ${PASSWORD_ROLES.join(',')} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
`;

/** A primary and its standby. */
export interface ReplicatedPostgres {
  /** Names both hosts. */
  readonly url: string;
  readonly primary: Server;
  readonly standby: Server;
  promoteStandby(): Promise<void>;
  /** Starts the killed primary as a standby that follows nobody, as after a failover that was not cleaned up. */
  startFormerPrimary(): Promise<Server>;
  stop(): Promise<void>;
}

/** The standby is synchronous: a commit waits until it is written there. An asynchronous one stops nobody when it stops. */
export async function startReplicatedPostgres({ isSynchronous = true } = {}): Promise<ReplicatedPostgres> {
  const place = await openPlace('replicated');
  const started: StartedServer[] = [];
  const stop = async () => {
    for (const server of started) await server.end();
    await removePlace(place);
  };
  try {
    return { ...(await startBoth(place, started, isSynchronous)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startBoth(
  place: Place,
  started: StartedServer[],
  isSynchronous: boolean,
): Promise<Omit<ReplicatedPostgres, 'stop'>> {
  await initialize(place, 'primary');
  await writeFile(join(place.folder, 'primary/pg_hba.conf'), ACCESS);
  const primary = await startServer(place, 'primary');
  started.push(primary);
  await withConnection(administrationUrl(primary), (sql) => sql.unsafe('create database till'));
  const { port } = new URL(primary.url);
  const from = ['-h', '127.0.0.1', '-p', port, '-U', 'till'];
  const data = join(place.folder, 'standby');
  await runTool(place, 'pg_basebackup', [...from, '-D', data, '-R', '-c', 'fast', '--no-sync']);
  const standby = await startServer(place, 'standby');
  started.push(standby);
  await withConnection(primary.url, async (sql) => {
    if (isSynchronous) {
      await sql.unsafe("alter system set synchronous_standby_names = '*'");
      await sql`select pg_reload_conf()`;
    }
    await until('the standby follows', async () => {
      const rows = await sql`
        select from pg_stat_replication where sync_state = ${isSynchronous ? 'sync' : 'async'} and state = 'streaming'`;
      return rows.length === 1;
    });
  });
  return {
    url: `postgres://till@${new URL(primary.url).host},${new URL(standby.url).host}/till?target_session_attrs=read-write`,
    primary,
    standby,
    promoteStandby: () => withConnection(standby.url, async (sql) => void (await sql`select pg_promote()`)),
    async startFormerPrimary() {
      await writeFile(join(place.folder, 'primary', 'standby.signal'), '');
      const former = await startServer(place, 'primary');
      started.push(former);
      return former;
    },
  };
}
