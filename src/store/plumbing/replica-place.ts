import { one } from './database.ts';
import type { Reader } from './statement.ts';
import type { WalHistory, WalSample } from './wal-history.ts';

/** The position of a replica in the write-ahead log, as the replica itself answers. */
export interface ReplicaPlace {
  readonly isStandby: boolean;
  /** The position in the write-ahead log, in bytes, up to which the replica has replayed it. Null on a primary. */
  readonly position: string | null;
  readonly timeline: number | null;
  readonly identity: string;
}

/**
 * The reason why a server does not answer a list. `silent`: it does not answer the heartbeat. `behind`: it has not replayed the position
 * that the caller needs, or it is too far behind for any caller. `not_a_replica`: it takes writes, or is a server of another database.
 * `other_timeline`: the primary was replaced, and this server may have commits that were lost.
 */
export type ReplicaRefusal = 'silent' | 'behind' | 'not_a_replica' | 'other_timeline';

/** The answer to the question whether a server may answer lists. The lag of a server that may not is given if it is known. */
export type ReplicaState =
  | { readonly refusal: undefined; readonly lagMs: number }
  | { readonly refusal: ReplicaRefusal; readonly lagMs: number | undefined };

/**
 * SQL text for the identity of a server and of the database in it. A primary and its replicas have the same identity, and no other server
 * has it.
 */
const IDENTITY = `(select system_identifier::text from pg_control_system()) || '/' ||
  (select oid::text from pg_database where datname = current_database()) as identity`;

/**
 * SQL text for a `ReplicaPlace`. The control file shows a new timeline only after the next restart point. The WAL receiver shows it at
 * once, but only to roles with `pg_read_all_stats`.
 */
export const ASK_REPLICA = `select pg_is_in_recovery() as "isStandby",
  pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text as position,
  greatest((select timeline_id from pg_control_checkpoint()),
    (select max(received_tli) from pg_stat_wal_receiver)) as timeline,
  ${IDENTITY}`;

/**
 * SQL columns for the position of a primary. The timeline is in the first eight digits of the name of a log file. On a standby, position
 * and timeline are null.
 */
export const ASK_PRIMARY_WAL = `case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text end as position,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline,
  ${IDENTITY}`;

export type PrimaryPlace = Omit<WalSample, 'atMs'>;

/** The position of a primary, from a row of `ASK_PRIMARY_WAL`. Undefined if the row is that of a standby or has no position. */
export function primaryPlace({
  position,
  timeline,
  identity,
}: Readonly<Record<string, unknown>>): PrimaryPlace | undefined {
  if (typeof position !== 'string' || typeof timeline !== 'string') return undefined;
  return { position: BigInt(position), timeline: Number.parseInt(timeline, 16), identity: String(identity) };
}

export async function readPrimaryPlace(sql: Reader): Promise<PrimaryPlace> {
  const place = primaryPlace(one(await sql.unsafe<Record<string, unknown>[]>(`select ${ASK_PRIMARY_WAL}`)));
  if (place === undefined) throw new Error('the database is a standby');
  return place;
}

export async function readReplicaPlace(sql: Reader): Promise<ReplicaPlace> {
  return one(await sql.unsafe<ReplicaPlace[]>(ASK_REPLICA));
}

interface Measure {
  readonly history: WalHistory;
  /** The position in the write-ahead log that the caller needs. */
  readonly position: bigint;
  readonly maxLagMs: number;
  readonly nowMs: number;
}

/** Decides whether a server at this position of the log may answer. */
export function judgePlace(place: ReplicaPlace, { history, position, maxLagMs, nowMs }: Measure): ReplicaState {
  if (!place.isStandby || place.position === null) return { refusal: 'not_a_replica', lagMs: undefined };
  const replayed = BigInt(place.position);
  const lag = history.lag(replayed, nowMs);
  const primary = history.newest();
  if (lag === undefined || primary === undefined) return { refusal: 'behind', lagMs: undefined };
  const lagMs = lag.ms;
  if (place.identity !== primary.identity) return { refusal: 'not_a_replica', lagMs: undefined };
  if ((place.timeline ?? 0) < primary.timeline) return { refusal: 'other_timeline', lagMs };
  return { refusal: replayed < position || lag.isMore || lagMs > maxLagMs ? 'behind' : undefined, lagMs };
}
