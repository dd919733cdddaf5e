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
  /** Lists and searches, on separate connections. */
  readonly listDb: Database;
  /** Answers some lists in place of the primary. Undefined without `READ_DATABASE_URL`. */
  readonly replica: Replica | undefined;
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
  readonly readDatabaseUrl?: string | undefined;
  readonly readMaxLagMs: number;
  readonly log: Log;
  /** Measures the time between two readings of the database's clock. */
  readonly baseClock: Clock;
  readonly machineClock: Clock;
  readonly tracing?: Tracing | undefined;
  /** How long the primary may be silent. By default two seconds. */
  readonly silence?: HeartbeatLimits | undefined;
}

const ASK_TIME = '(extract(epoch from clock_timestamp()) * 1000)::text as ms';

/** Opens the pool of requests and the pools of lists, with a heartbeat for each server. Resolves when the node's clock is set by the database. */
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
    // The place in the log is asked for only if a replica is compared with it, because not every PostgreSQL has one.
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
