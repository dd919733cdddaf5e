import type { Mode } from '../../domain/mode.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface ApiRequest {
  readonly at: Date;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly keyId: string;
  readonly method: string;
  /** The path of the request, without the query string. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /** The error code of the answer. Null if the request succeeded. */
  readonly code: string | null;
  readonly message: string | null;
  readonly requestId: string;
  readonly address: string;
  /** The number of the partner's requests with the same kind of result that were left out since the last recorded one. */
  readonly skipped: number;
}

export async function insertApiRequests(tx: Tx, requests: readonly ApiRequest[]): Promise<void> {
  await tx`
    insert into api_requests
      (at, partner_id, mode, key_id, method, path, status, ms, code, message, request_id, address, skipped)
    select r.at, r."partnerId", r.mode, r."keyId", r.method, r.path, r.status, r.ms, r.code, r.message, r."requestId",
      r.address, r.skipped
    from jsonb_to_recordset(${tx.json(requests as never)}) as r(at timestamptz, "partnerId" text, mode text, "keyId" text,
      method text, path text, status smallint, ms integer, code text, message text, "requestId" text, address text,
      skipped integer)`;
}

export interface ApiRequestQuery {
  readonly partnerId: string;
  readonly mode: Mode;
  /** Lists the requests that were made with these keys. Null lists those of all keys. */
  readonly keyIds: readonly string[] | null;
  readonly isErrorsOnly: boolean;
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** Recorded requests, the newest first. */
export function listApiRequests(db: Reader, query: ApiRequestQuery): Promise<(ApiRequest & { readonly id: string })[]> {
  const { partnerId, mode, keyIds, isErrorsOnly, beforeId, limit } = query;
  return db<(ApiRequest & { readonly id: string })[]>`
    select id::text as id, at, partner_id as "partnerId", mode, key_id as "keyId", method, path, status, ms, code, message,
      request_id as "requestId", address, skipped
    from api_requests
    where partner_id = ${partnerId} and mode = ${mode}
      and ${keyIds === null ? db`true` : db`key_id = any(${keyIds as string[]}::text[])`}
      and ${isErrorsOnly ? db`status >= 400` : db`true`}
      and ${beforeId === undefined ? db`true` : db`id < ${beforeId}::bigint`}
    order by id desc limit ${limit}`;
}

/** Deletes at most `limit` recorded requests from before `before`, and returns their number. */
export async function pruneApiRequests(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from api_requests where ctid = any(array(
      select ctid from api_requests where at < ${before} order by at limit ${limit} for update skip locked))`;
  return count;
}
