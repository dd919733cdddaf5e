import type { Mode } from '../../domain/mode.ts';
import type { PinnableVersion } from '../../domain/version.ts';
import type { EndpointStatus } from '../../domain/webhook.ts';
import type { Owner } from '../parties/merchants.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface Endpoint {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly url: string;
  /** The types of events that the endpoint gets, and patterns of types. */
  readonly events: readonly string[];
  /** The merchants whose events the endpoint gets. Null for all merchants of the partner. */
  readonly merchantIds: readonly string[] | null;
  readonly description: string | null;
  readonly status: EndpointStatus | 'deleted';
  readonly apiVersion: PinnableVersion;
  readonly secrets: readonly StoredSecret[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The time of the first failed delivery after the last success. Null if none has failed since. */
  readonly failingSince: Date | null;
}

/** A secret with which deliveries are signed, encrypted with the master secret. */
export interface StoredSecret {
  readonly wrapped: string;
  /** The end of the secret, in ISO 8601. Null for the newest secret, which has no end. */
  readonly until: string | null;
}

export async function insertEndpoint(tx: Tx, endpoint: Endpoint): Promise<void> {
  const { merchantIds, secrets } = endpoint;
  await tx`
    insert into webhook_endpoints (id, partner_id, mode, url, events, merchant_ids, description, status, api_version,
      secrets, created_at, updated_at)
    values (${endpoint.id}, ${endpoint.partnerId}, ${endpoint.mode}, ${endpoint.url}, ${endpoint.events},
      ${merchantIds}, ${endpoint.description}, ${endpoint.status}, ${endpoint.apiVersion}, ${tx.json(secrets)},
      ${endpoint.createdAt}, ${endpoint.updatedAt})`;
}

/** The endpoints of a partner, the oldest first, without deleted ones. */
export function listEndpoints(db: Reader, { partnerId, mode }: Owner): Promise<Endpoint[]> {
  return db<Endpoint[]>`
    select ${endpointColumns(db)} from webhook_endpoints w
    where w.partner_id = ${partnerId} and w.mode = ${mode} and w.status <> 'deleted' order by w.id`;
}

/** The endpoint with this id, of any partner, even if it is deleted. The caller checks partner and status. */
export async function findEndpoint(db: Reader, id: string): Promise<Endpoint | undefined> {
  const [row] = await db<Endpoint[]>`select ${endpointColumns(db)} from webhook_endpoints w where w.id = ${id}`;
  return row;
}

export async function lockEndpoint(tx: Tx, id: string): Promise<Endpoint | undefined> {
  const [row] = await tx<Endpoint[]>`
    select ${endpointColumns(tx)} from webhook_endpoints w where w.id = ${id} for no key update`;
  return row;
}

/** Locks a page of all endpoints that are not deleted, ordered by id. */
export function lockEndpoints(tx: Tx, { after, limit }: { after: string; limit: number }): Promise<Endpoint[]> {
  return tx<Endpoint[]>`
    select ${endpointColumns(tx)} from webhook_endpoints w
    where w.id > ${after} and w.status <> 'deleted' order by w.id limit ${limit} for no key update`;
}

/** Stores all changeable fields of an endpoint that the caller has locked. */
export async function updateEndpoint(tx: Tx, endpoint: Endpoint): Promise<void> {
  await tx`
    update webhook_endpoints
    set url = ${endpoint.url}, events = ${endpoint.events}, merchant_ids = ${endpoint.merchantIds},
      description = ${endpoint.description}, status = ${endpoint.status}, api_version = ${endpoint.apiVersion},
      secrets = ${tx.json(endpoint.secrets)}, updated_at = ${endpoint.updatedAt},
      failing_since = ${endpoint.failingSince}
    where id = ${endpoint.id}`;
}

export interface FailingEndpoint
  extends Pick<Endpoint, 'id' | 'partnerId' | 'mode' | 'url' | 'status' | 'failingSince'> {
  /** The number of deliveries that wait for their next attempt, counted up to `MOST_COUNTED`. */
  readonly waiting: number;
  /** The HTTP status of the answer to the last failed attempt. Null without an answer. */
  readonly answerStatus: number | null;
  readonly problem: string | null;
}

const MOST_COUNTED = 1_000;

/** Endpoints whose deliveries have failed since the last success, including those that were disabled for it, the longest failing first. */
export function listFailingEndpoints(db: Reader, limit: number): Promise<FailingEndpoint[]> {
  return db<FailingEndpoint[]>`
    select w.id, w.partner_id as "partnerId", w.mode, w.url, w.status, w.failing_since as "failingSince",
      (select count(*) from (
        select from webhook_deliveries d where d.endpoint_id = w.id and d.status = 'pending' limit ${MOST_COUNTED}
      ) pending)::int as waiting,
      last.answer_status as "answerStatus", last.problem
    from webhook_endpoints w
    left join lateral (
      -- The oldest pending delivery was attempted first. The others wait behind it.
      select d.answer_status, d.problem from webhook_deliveries d
      where d.endpoint_id = w.id and d.status = 'pending' and d.attempted_at is not null order by d.due_at limit 1
    ) last on true
    where w.failing_since is not null and w.status <> 'deleted'
    order by w.failing_since, w.id limit ${limit}`;
}

/** The columns of an `Endpoint`, for the alias `w`. */
export function endpointColumns(db: Reader) {
  return db`w.id, w.partner_id as "partnerId", w.mode, w.url, to_json(w.events) as events,
    to_json(w.merchant_ids) as "merchantIds", w.description, w.status, w.api_version as "apiVersion", w.secrets,
    w.created_at as "createdAt", w.updated_at as "updatedAt", w.failing_since as "failingSince"`;
}
