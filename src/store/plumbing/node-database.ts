import { createFollowedClock } from '../../runtime/followed-clock.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Clock, Log } from '../../runtime/world.ts';
import { type Database, openDatabase, openListDatabase } from './database.ts';
import { type HeartbeatLimits, startHeartbeat } from './heartbeat.ts';
import { openReplica, type Replica } from './replica.ts';
import { ASK_PRIMARY_WAL, primaryPlace } from './replica-place.ts';
import { createWalHistory } from './wal-history.ts';

export interface NodeDatabase {
  readonly db: Database;
  /** The pool for lists and searches, which has its own connections. */
  readonly listDb: Database;
  /** The read replica, which answers some lists in place of the primary. Undefined without `READ_DATABASE_URL`. */
  readonly replica: Replica | undefined;
  /** A clock that shows the database's time, which all nodes share. */
  readonly clock: Clock;
  /** The milliseconds by which the machine's clock is ahead of the database's clock. */
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
  readonly readDatabaseUrl?: string | undefined;
  readonly readMaxLagMs: number;
  readonly log: Log;
  /** The clock that measures the time between two readings of the database's clock. */
  readonly baseClock: Clock;
  readonly machineClock: Clock;
  readonly tracing?: Tracing | undefined;
  /** The time for which the primary may be silent. By default two seconds. */
  readonly silence?: HeartbeatLimits | undefined;
}

const ASK_TIME = '(extract(epoch from clock_timestamp()) * 1000)::text as ms';

/**
 * Opens the pool for requests and the pools for lists, with a heartbeat for each server. Resolves when the database's time has set the
 * node's clock.
 */
export async function openNodeDatabase(input: NodeDatabaseInput): Promise<NodeDatabase> {
  const {
    url,
    directUrl,
    isPrepared,
    applicationName,
    poolSize,
    listPoolSize,
    listTimeoutMs,
    readDatabaseUrl,
    log,
    baseClock,
    machineClock,
    tracing,
    silence,
  } = input;
  const clock = createFollowedClock(baseClock);
  const history = createWalHistory();
  const heartbeat = startHeartbeat({
    url,
    isPooled: directUrl !== undefined,
    applicationName: `${applicationName}-heartbeat`,
    log,
    clock: baseClock,
    // The log position is read only if there is a replica to compare with it, because not every PostgreSQL can give it.
    ask: `select ${[ASK_TIME, ...(readDatabaseUrl === undefined ? [] : [ASK_PRIMARY_WAL])].join(', ')}`,
    onBeat: ({ row, ...times }) => {
      clock.take({ ...times, theirMs: Number(row.ms) });
      const place = primaryPlace(row);
      if (place !== undefined) history.take({ atMs: times.askedAtMs, ...place });
    },
    words: {
      silent: 'the database does not answer: requests are refused until it does',
      back: 'the database answers again',
    },
    ...(silence && { limits: silence }),
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
  const replica =
    readDatabaseUrl === undefined
      ? undefined
      : openReplica({
          url: readDatabaseUrl,
          isPooled: directUrl !== undefined,
          isPrepared,
          applicationName: `${applicationName}-replica`,
          poolSize: listPoolSize,
          timeoutMs: listTimeoutMs,
          maxLagMs: input.readMaxLagMs,
          history,
          clock: baseClock,
          log,
          tracing,
        });
  return {
    db,
    listDb,
    replica,
    clock,
    clockOffMs: () => Math.round(machineClock.nowMs() - clock.nowMs()),
    async close() {
      await Promise.all([db.close(), listDb.close(), replica?.close()]);
      heartbeat.stop();
    },
  };
}
