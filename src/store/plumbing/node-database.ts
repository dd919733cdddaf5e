import { createFollowedClock } from '../../runtime/followed-clock.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Clock, Log } from '../../runtime/world.ts';
import { type Database, openDatabase, openListDatabase } from './database.ts';
import { startHeartbeat } from './heartbeat.ts';

export interface NodeDatabase {
  readonly db: Database;
  /** Lists and searches, on separate connections. */
  readonly listDb: Database;
  /** The database's time, which all nodes share. */
  readonly clock: Clock;
  /** The milliseconds by which the machine's clock is ahead of the database. */
  clockOffMs(): number;
  close(): Promise<void>;
}

export interface NodeDatabaseInput {
  readonly url: string;
  readonly directUrl?: string | undefined;
  readonly isPrepared?: boolean | undefined;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly listPoolSize: number;
  readonly listTimeoutMs: number;
  readonly log: Log;
  /** Measures the time between two readings of the database's clock. */
  readonly baseClock: Clock;
  readonly machineClock: Clock;
  readonly tracing?: Tracing | undefined;
}

/** Opens the pool of requests and the pool of lists, with one heartbeat. Resolves when the node's clock is set by the database. */
export async function openNodeDatabase(input: NodeDatabaseInput): Promise<NodeDatabase> {
  const {
    url,
    directUrl,
    isPrepared,
    applicationName,
    poolSize,
    listPoolSize,
    listTimeoutMs,
    log,
    baseClock,
    machineClock,
    tracing,
  } = input;
  const clock = createFollowedClock(baseClock);
  const heartbeat = startHeartbeat({
    url,
    isPooled: directUrl !== undefined,
    applicationName: `${applicationName}-heartbeat`,
    log,
    clock: baseClock,
    onBeat: ({ databaseMs, ...times }) => clock.take({ ...times, theirMs: databaseMs }),
  });
  await heartbeat.started;
  const way = { url, directUrl, isPrepared, heartbeat, tracing };
  const db = openDatabase({ ...way, applicationName, poolSize });
  const listDb = openListDatabase({
    ...way,
    applicationName: `${applicationName}-lists`,
    poolSize: listPoolSize,
    timeoutMs: listTimeoutMs,
  });
  return {
    db,
    listDb,
    clock,
    clockOffMs: () => Math.round(machineClock.nowMs() - clock.nowMs()),
    async close() {
      await Promise.all([db.close(), listDb.close()]);
      heartbeat.stop();
    },
  };
}
