import type { Mode } from '../../domain/mode.ts';
import type { Reader, Tx } from './database.ts';

/** The scope in which an Idempotency-Key is unique. */
export interface IdempotencyScope {
  readonly partnerId: string;
  readonly mode: Mode;
  /** The id of the merchant. Empty if the route has none. */
  readonly merchantId: string;
  readonly route: string;
  readonly key: string;
}

export interface StoredAnswer {
  readonly requestHash: string;
  readonly status: number;
  readonly body: string;
  /** The time of the first request with the key. */
  readonly createdAt: Date;
}

/**
 * Claims an Idempotency-Key for this database transaction. If another transaction has claimed the same key, this function waits until that
 * transaction ends. After its rollback, this claim succeeds. After its commit, this function returns false, and the stored answer can be
 * read.
 */
export async function claimKey(tx: Tx, scope: IdempotencyScope, requestHash: string, at: Date): Promise<boolean> {
  const { count } = await tx`
    insert into idempotency_keys (partner_id, mode, merchant_id, route, key, request_hash, created_at)
    values (${scope.partnerId}, ${scope.mode}, ${scope.merchantId}, ${scope.route}, ${scope.key}, ${requestHash}, ${at})
    on conflict do nothing`;
  return count === 1;
}

export async function storeAnswer(
  tx: Tx,
  scope: IdempotencyScope,
  answer: Pick<StoredAnswer, 'status' | 'body'>,
): Promise<void> {
  await tx`update idempotency_keys set status = ${answer.status}, body = ${answer.body} where ${same(tx, scope)}`;
}

export async function findAnswer(db: Reader, scope: IdempotencyScope): Promise<StoredAnswer | undefined> {
  const [row] = await db<StoredAnswer[]>`
    select request_hash as "requestHash", status, body, created_at as "createdAt" from idempotency_keys where ${same(db, scope)}`;
  return row;
}

/** Deletes at most `limit` Idempotency-Keys that were stored before `before`, and returns their number. */
export async function pruneKeys(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where created_at < ${before} order by created_at limit ${limit}
      for update skip locked))`;
  return count;
}

function same(db: Reader, scope: IdempotencyScope) {
  return db`partner_id = ${scope.partnerId} and mode = ${scope.mode} and merchant_id = ${scope.merchantId}
    and route = ${scope.route} and key = ${scope.key}`;
}
