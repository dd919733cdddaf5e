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

/** A streaming replica that answers lists, if it has what the caller must see. */
export interface Replica {
  /** Runs the work if the server has replayed this position and is not too far behind. A failure of the work is thrown. */
  read<T>(position: bigint, work: (sql: Reader) => Promise<T>): Promise<ReplicaAnswer<T>>;
  /** By the last beat. */
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

/** Lists that wait for a silent replica begin anew on the primary, so the silence must be short. */
const LIMITS = { answerMs: 1_000, silentTicks: 4 };
/** A lock of a migration that is replayed must not keep lists. */
const LOCK_MS = '500';
/** A replica that is a moment behind catches up within this time. */
const CATCH_UP_MS = 100;
const STEP_MS = 5;
/** After a wait in vain, lists ask once and do not wait for so long. */
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
    // Its way leads through a pooler if the primary's does.
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

  /** A balancer may lead each connection to another server, so the server is asked on the connection that it will answer on. */
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

/** The first of several hosts that is a standby. A single host is taken as it is, and asked with each list. */
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
