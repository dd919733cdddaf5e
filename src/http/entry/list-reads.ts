import type { FastifyReply } from 'fastify';
import { ApiError } from '../../errors.ts';
import { fullBucket, refill, type TokenBucket, waitMs } from '../../runtime/token-bucket.ts';
import type { Clock } from '../../runtime/world.ts';
import type { Owner } from '../../store/parties/merchants.ts';
import { type Database, isStatementTimeout, type Reader } from '../../store/plumbing/database.ts';
import { createFairQueue } from './fair-queue.ts';
import type { ReplicaReads } from './replica-reads.ts';
import type { Turns } from './turns.ts';

/**
 * Runs lists and searches on a connection pool of their own, with a short statement timeout, so lists of one partner cannot delay the
 * payments of another. Routes never use this pool directly.
 */
export interface ListReads {
  /** Runs a list on the primary. Throws `rate_limited` if the key has too many lists in flight, or has used up its database time. */
  read<T>(keyId: string, reply: FastifyReply, work: Work<T>): Promise<T>;
  /**
   * Like `read`, but a replica may answer, after it has replayed the last event of the caller's partner. So every change to the
   * list that the caller can cause or learn of must append an event of that partner. The header `Read-From` names the server that
   * answered.
   */
  readReplicated<T>(caller: ListCaller, reply: FastifyReply, work: Work<T>): Promise<T>;
  /** Begins an export. Throws `rate_limited` if the key has one already, or the node has too many. */
  beginExport(caller: ListCaller, reply: FastifyReply): ExportReads;
}

export interface ListCaller extends Owner {
  /** The id of the key, or of the person of a session. */
  readonly id: string;
}
type Work<T> = (db: Reader) => Promise<T>;

/**
 * The pages of one export. They wait in the same queue as all lists. The pages of an export are read one at a time, so they are
 * not charged as database time of the key.
 */
export interface ExportReads {
  page<T>(work: Work<T>): Promise<T>;
  /** Ends the export. May be called more than once. */
  end(): void;
}

export interface ListReadsDeps {
  readonly listDb: Pick<Database, 'sql'>;
  readonly replicaReads?: ReplicaReads | undefined;
  readonly clock: Clock;
  readonly turns: Turns;
}

export interface ListReadsInput {
  readonly poolSize: number;
  /** Milliseconds of database time that a key may use in each second. */
  readonly costMsPerSecond: number;
  readonly onRefusal: () => void;
}

/** The most lists of one key that run at once. The other connections of the pool are for other keys. */
const PER_KEY = 2;
const WAITING_PER_KEY = 8;
const MAX_BUCKETS = 10_000;
const EXPORT_RETRY_MS = 10_000;
/** The most exports of all keys together. The other connections of the pool are for lists. */
const EXPORTS = 2;

export function createListReads(
  { listDb, replicaReads, clock, turns }: ListReadsDeps,
  { poolSize, costMsPerSecond, onRefusal }: ListReadsInput,
): ListReads {
  const queue = createFairQueue({
    places: poolSize,
    perCaller: Math.min(PER_KEY, poolSize - 1),
    waitingPerCaller: WAITING_PER_KEY,
  });
  const buckets = new Map<string, TokenBucket>();
  /** The running export of each key. */
  const exporting = new Map<string, ExportReads>();

  function bucketOf(key: string): TokenBucket {
    const nowMs = clock.nowMs();
    const bucket = buckets.get(key) ?? fullBucket(costMsPerSecond, nowMs);
    refill(bucket, nowMs);
    if (!buckets.has(key) && buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value ?? '');
    buckets.set(key, bucket);
    return bucket;
  }

  function refusal(message: string, retryAfterMs = 0): ApiError {
    onRefusal();
    return new ApiError('rate_limited', message, { retryAfterS: Math.max(1, Math.ceil(retryAfterMs / 1000)) });
  }

  function showPolicy(reply: FastifyReply, policy: string): void {
    reply.header('RateLimit-Policy', `"lists";${policy}`);
    reply.header('RateLimit', '"lists";r=0;t=1');
  }

  /**
   * Runs a list and charges its time afterwards, because its cost is not known before. While the key has used more time than its
   * limit, its next lists are refused.
   */
  async function charged<T>(key: string, work: () => Promise<T>): Promise<T> {
    const startedAtMs = clock.nowMs();
    try {
      return await work();
    } finally {
      bucketOf(key).tokens -= Math.max(0, clock.nowMs() - startedAtMs);
    }
  }

  const onPrimary = <T>(work: Work<T>) => work(listDb.sql);
  /** Runs the work on the replica, or on the primary if the replica cannot answer. */
  const onEither = <T>(caller: ListCaller, reply: FastifyReply, work: Work<T>) =>
    replicaReads === undefined
      ? onPrimary(work)
      : replicaReads.read(caller, work, (from) => {
          // Only the first page of an export can set the header: later pages are read when the headers are already sent.
          if (!reply.raw.headersSent) reply.header('Read-From', from);
        });

  async function queued<T>(keyId: string, reply: FastifyReply, run: () => Promise<T>): Promise<T> {
    const debtMs = waitMs(bucketOf(keyId));
    if (debtMs > 0) {
      showPolicy(reply, `q=${costMsPerSecond};w=1;qu="milliseconds"`);
      throw refusal(`Lists of this Api-Key used more than ${costMsPerSecond} ms of database time.`, debtMs);
    }
    const answer = queue.run(keyId, run);
    if (answer === undefined) {
      const limit = PER_KEY + WAITING_PER_KEY;
      showPolicy(reply, `q=${limit};qu="concurrent-requests"`);
      throw refusal(`More than ${limit} lists at once.`);
    }
    try {
      const rows = await answer;
      // Views and JSON are built in a separate turn of the event loop.
      await turns.take(keyId);
      return rows;
    } catch (error) {
      throw isStatementTimeout(error) ? refusal('This list takes too much time. Narrow it by a time range.') : error;
    }
  }

  return {
    beginExport(caller, reply) {
      const { id: keyId } = caller;
      if (exporting.has(keyId) || exporting.size >= EXPORTS) {
        const isOwn = exporting.has(keyId);
        showPolicy(reply, `q=${isOwn ? 1 : EXPORTS};qu="concurrent-requests"`);
        const message = isOwn ? 'An export of yours is running.' : 'This node is writing other exports.';
        throw refusal(message, EXPORT_RETRY_MS);
      }
      const reads: ExportReads = {
        page: (work) => {
          const page = queue.run(`export ${keyId}`, () => onEither(caller, reply, work));
          if (page === undefined) throw new Error('An export asks for one page after the other.');
          return page;
        },
        end: () => {
          // The key may have begun another export in the meantime.
          if (exporting.get(keyId) === reads) exporting.delete(keyId);
        },
      };
      exporting.set(keyId, reads);
      return reads;
    },

    read: (keyId, reply, work) => queued(keyId, reply, () => charged(keyId, () => onPrimary(work))),

    readReplicated: (caller, reply, work) =>
      queued(caller.id, reply, () => onEither(caller, reply, (db) => charged(caller.id, () => work(db)))),
  };
}
