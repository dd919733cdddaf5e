import { hostUrls } from '../../domain/database-hosts.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Clock, Log } from '../../runtime/world.ts';
import { ConnectionError, connect, connectionSettings, cut, send } from './connection.ts';
import { type Database, openListDatabase } from './database.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { Primary } from './primary.ts';
import {
  ASK_REPLICA,
  judgePlace,
  type ReplicaPlace,
  type ReplicaRefusal,
  type ReplicaState,
  readReplicaPlace,
} from './replica-place.ts';
import type { Reader } from './statement.ts';
import type { WalHistory } from './wal-history.ts';

/** A streaming replica of the database that answers lists in place of the primary, if it has every change that the caller must see. */
export interface Replica {
  /** Runs the work on the replica if it has replayed this log position and is not too far behind. Rejects if the work fails. */
  read<T>(position: bigint, work: (sql: Reader) => Promise<T>): Promise<ReplicaAnswer<T>>;
  /** The state of the replica, by its last answer to the heartbeat. */
  state(): ReplicaState;
  load: Database['load'];
  close(): Promise<void>;
}

export type ReplicaAnswer<T> =
  | { readonly refusal: undefined; readonly lagMs: number; readonly value: T }
  | { readonly refusal: ReplicaRefusal };

export interface ReplicaInput {
  readonly url: string;
  readonly isPooled: boolean;
  readonly isPrepared?: boolean | undefined;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly timeoutMs: number;
  readonly maxLagMs: number;
  readonly history: WalHistory;
  readonly clock: Clock;
  readonly log: Log;
  readonly tracing?: Tracing | undefined;
}

/**
 * The silence after which the replica counts as not answering. It is short, because lists that wait for the replica then begin anew on the
 * primary.
 */
const LIMITS = { answerMs: 1_000, silentTicks: 4 };
/** The time in ms after which a query for a list stops waiting for a lock. The replica may be replaying a migration that locks a table. */
const LOCK_MS = '500';
/** The longest wait for a replica that is only a moment behind. */
const CATCH_UP_MS = 100;
const STEP_MS = 5;
/** The time after a wait without success in which lists do not wait for the replica again. */
const IMPATIENT_MS = 1_000;

export function openReplica(input: ReplicaInput): Replica {
  const { url, isPooled, isPrepared, applicationName, poolSize, timeoutMs, maxLagMs, history, clock, log } = input;
  let last: ReplicaPlace | undefined;
  let impatientUntilMs = Number.NEGATIVE_INFINITY;

  const heartbeat = startHeartbeat({
    url,
    isPooled,
    applicationName: `${applicationName}-heartbeat`,
    log,
    clock,
    ask: ASK_REPLICA,
    onBeat: ({ row }) => {
      last = row as unknown as ReplicaPlace;
    },
    find: findStandby,
    words: {
      silent: 'the read replica does not answer: the primary answers lists until it does',
      back: 'the read replica answers again',
    },
    limits: LIMITS,
  });
  const db = openListDatabase({
    url,
    // The replica's URL leads through a pooler if the primary's URL does.
    directUrl: isPooled ? url : undefined,
    isPrepared,
    applicationName,
    poolSize,
    timeoutMs,
    settings: { lock_timeout: LOCK_MS },
    heartbeat,
    tracing: input.tracing,
  });

  const judge = (place: ReplicaPlace, position: bigint) =>
    judgePlace(place, { history, position, maxLagMs, nowMs: clock.nowMs() });

  /**
   * Waits until the server of this connection has replayed the position. A balancer may lead each connection to another server, so the
   * question is sent on the connection that will run the list.
   */
  async function catchUp(sql: Reader, position: bigint): Promise<ReplicaState> {
    const startedAtMs = clock.nowMs();
    const waitMs = startedAtMs < impatientUntilMs ? 0 : CATCH_UP_MS;
    for (;;) {
      const state = judge(await readReplicaPlace(sql), position);
      if (state.refusal !== 'behind') return state;
      if (clock.nowMs() >= startedAtMs + waitMs) {
        if (waitMs > 0) impatientUntilMs = clock.nowMs() + IMPATIENT_MS;
        return state;
      }
      await systemWorld.timers.sleep(STEP_MS);
    }
  }

  return {
    async read(position, work) {
      if (!heartbeat.isAlive()) return { refusal: 'silent' };
      return db.onOneConnection(async (sql) => {
        const state = await catchUp(sql, position);
        if (state.refusal !== undefined) return { refusal: state.refusal };
        return { ...state, value: await work(sql) };
      });
    },
    state() {
      if (last === undefined || !heartbeat.isAlive()) return { refusal: 'silent', lagMs: undefined };
      return judge(last, 0n);
    },
    load: db.load,
    async close() {
      heartbeat.stop();
      await db.close();
    },
  };
}

/**
 * The first host of the URL that is a standby. If there is a single host, it is returned without a check, because every list asks it
 * anyway.
 */
export async function findStandby(url: string): Promise<Primary> {
  const urls = hostUrls(url);
  if (urls.length === 1) return { url, timeline: 0 };
  for (const each of urls) {
    if (await isStandby(each).catch(() => false)) return { url: each, timeline: 0 };
  }
  throw new ConnectionError(new Error('No host of READ_DATABASE_URL is a standby.'));
}

async function isStandby(url: string): Promise<boolean> {
  const client = await connect({
    ...connectionSettings({ url, applicationName: 'till-replica', isPooled: true }),
    connectionTimeoutMillis: LIMITS.answerMs,
    query_timeout: LIMITS.answerMs,
  });
  try {
    return (await send(client, { text: 'select pg_is_in_recovery() as found', values: [] })).rows[0].found;
  } finally {
    cut(client);
  }
}
