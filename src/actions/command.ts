import type { RegistryDeps } from '../chains/registry.ts';
import { requestHash } from '../domain/idempotency.ts';
import type { Origin } from '../domain/origin.ts';
import { ApiError } from '../errors.ts';
import type { World } from '../runtime/world.ts';
import { type Database, databaseFault, savepoint, type Tx } from '../store/plumbing/database.ts';
import {
  claimKey,
  findAnswer,
  type IdempotencyScope,
  type StoredAnswer,
  storeAnswer,
} from '../store/plumbing/idempotency-keys.ts';
import { limitLockWait } from '../store/plumbing/locks.ts';
import type { SingleStatement } from '../store/plumbing/single-statement.ts';

/** The one write path: every change of the database goes through `command`, `commandOfOne` or `idempotentCommand`. */

export interface CommandDeps extends RegistryDeps {
  readonly db: Database;
  readonly world: World;
  /** The source of the command, recorded in its audit entries. */
  readonly origin?: Origin | undefined;
}

type Work<T> = (tx: Tx, now: Date) => Promise<T>;

const ATTEMPTS = 3;
/** The longest time that a request waits for an earlier request with the same Idempotency-Key. */
const KEY_WAIT_MS = 5_000;

/**
 * Runs the work in a database transaction. After a lost race (deadlock, serialization failure) the work runs again, at most three times
 * in all.
 */
export async function command<T>({ db, world, origin }: CommandDeps, work: Work<T>): Promise<T> {
  const whole = async (tx: Tx) => {
    const result = await work(tx, new Date(world.clock.nowMs()));
    world.crashPoint?.('write.unfinished');
    return result;
  };
  const result = await retried(() => db.begin(world.random, whole, origin));
  world.crashPoint?.('write.committed');
  return result;
}

/** `command` for a single SQL statement, which is a database transaction by itself and takes one round trip instead of three. */
export async function commandOfOne<T>(
  { db, world }: CommandDeps,
  draft: (now: Date) => SingleStatement<T>,
): Promise<T> {
  return retried(() => db.single(draft(new Date(world.clock.nowMs()))));
}

async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= ATTEMPTS || databaseFault(error) !== 'conflict') throw error;
    }
  }
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A request with an Idempotency-Key. A later request with the same key must have the same `meaning`. */
export interface IdempotentRequest {
  readonly scope: IdempotencyScope;
  readonly meaning: unknown;
}

/**
 * Does the work once per Idempotency-Key. The claim of the key, the work and its stored answer share one database transaction: after a
 * crash a retry finds either the answer or a free key. Refusals that the error catalogue marks `isReplayed` are stored as answers, too.
 * Every other error rolls the claim back, and the key stays free.
 */
export async function idempotentCommand(
  deps: CommandDeps,
  request: IdempotentRequest | undefined,
  work: Work<Answer>,
): Promise<Answer & { isReplayed: boolean }> {
  if (request === undefined) return { ...(await command(deps, work)), isReplayed: false };
  const { scope } = request;
  const hash = requestHash(request.meaning);
  return command(deps, async (tx, now) => {
    if (!(await claimWithin(tx, scope, hash, now))) {
      const stored = await findAnswer(tx, scope);
      if (stored === undefined) throw stillRunning();
      return replayOf(stored, hash);
    }
    const answer = await workOrRefusal(tx, (savepoint) => work(savepoint, now));
    await storeAnswer(tx, scope, { status: answer.status, body: JSON.stringify(answer.body) });
    return { ...answer, isReplayed: false };
  });
}

/**
 * The stored answer to an earlier request with the same key. It is for routes that check a condition which changes with time, such as the
 * expiry of the request: the retry of an accepted request must get the answer, not a refusal.
 */
export async function findReplay(
  { db }: Pick<CommandDeps, 'db'>,
  request: IdempotentRequest | undefined,
): Promise<(Answer & { isReplayed: boolean }) | undefined> {
  const stored = request && (await findAnswer(db.sql, request.scope));
  return stored === undefined ? undefined : replayOf(stored, requestHash(request?.meaning));
}

function replayOf(stored: StoredAnswer, hash: string): Answer & { isReplayed: boolean } {
  if (stored.requestHash !== hash) throw otherRequest();
  const { status, createdAt } = stored;
  const body = JSON.parse(stored.body);
  // A stored refusal is repeated although its reason may be gone. The text says why, and how to go on.
  const text = `This is the stored answer of ${createdAt.toISOString()} for this Idempotency-Key; use a new key to try again.`;
  return { status, body: status < 400 ? body : { ...body, message: `${body.message} ${text}` }, isReplayed: true };
}

async function claimWithin(tx: Tx, scope: IdempotencyScope, hash: string, now: Date): Promise<boolean> {
  await limitLockWait(tx, KEY_WAIT_MS);
  try {
    return await claimKey(tx, scope, hash, now);
  } catch (error) {
    throw databaseFault(error) === 'busy' ? stillRunning() : error;
  }
}

async function workOrRefusal(tx: Tx, work: (tx: Tx) => Promise<Answer>): Promise<Answer> {
  try {
    return await savepoint(tx, work);
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isReplayed) throw error;
    return { status: error.status, body: error.body };
  }
}

export function otherRequest(): ApiError {
  return new ApiError('idempotency_conflict', 'This Idempotency-Key was used with a different request.');
}

export function stillRunning(): ApiError {
  return new ApiError('idempotency_conflict', 'The first request with this Idempotency-Key is still running.', {
    retryAfterS: 1,
  });
}
