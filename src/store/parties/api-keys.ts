import type { Mode } from '../../domain/mode.ts';
import type { Scope } from '../../domain/scope.ts';
import type { PinnableVersion } from '../../domain/version.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface ApiKey {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: Mode;
  /** The last characters of the key, by which people distinguish keys. */
  readonly hint: string;
  readonly label: string;
  /** The rights that the key has. Null for all rights. */
  readonly scopes: readonly Scope[] | null;
  /** The merchants for which the key works. Null for all merchants of the partner. */
  readonly merchantIds: readonly string[] | null;
  /** The IP addresses and networks (CIDR) from which the key works. Null for all addresses. */
  readonly addresses: readonly string[] | null;
  readonly rotatedFrom: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** An API key with the facts about its partner that authentication needs. */
export interface KeyHolder
  extends Pick<
    ApiKey,
    'id' | 'partnerId' | 'mode' | 'label' | 'scopes' | 'merchantIds' | 'addresses' | 'expiresAt' | 'revokedAt'
  > {
  readonly hash: string;
  readonly pinnedVersion: PinnableVersion;
  readonly partnerDisabledAt: Date | null;
}

/** The rights with which the key was issued. They never change, and its MAC covers them. */
export interface KeyRights extends Pick<ApiKey, 'id' | 'partnerId' | 'mode' | 'scopes' | 'merchantIds' | 'addresses'> {
  readonly hash: string;
  /** The expiry with which the key was issued. `expiresAt` may be earlier. */
  readonly issuedUntil: Date | null;
}

/** The rights of a key with the MAC that proves that the gateway issued it. The MAC is null in a row that the gateway did not write. */
export interface StoredKeyRights extends KeyRights {
  readonly mac: string | null;
}

export async function insertApiKey(
  tx: Tx,
  key: Omit<ApiKey, 'revokedAt' | 'lastUsedAt'> & { hash: string; mac: string },
): Promise<void> {
  await tx`
    insert into api_keys (
      id, partner_id, mode, hash, hint, label, scopes, merchant_ids, addresses, rotated_from, created_at, expires_at, mac)
    values (${key.id}, ${key.partnerId}, ${key.mode}, ${key.hash}, ${key.hint}, ${key.label},
      ${key.scopes && [...key.scopes]}, ${key.merchantIds && [...key.merchantIds]},
      ${key.addresses && [...key.addresses]}, ${key.rotatedFrom}, ${key.createdAt}, ${key.expiresAt},
      ${key.mac})`;
}

export function findKeyHolders(db: Reader, hashes: readonly string[]): Promise<(KeyHolder & StoredKeyRights)[]> {
  return db<(KeyHolder & StoredKeyRights)[]>`
    select ${rightsColumns(db)}, k.label, ${endColumns(db)},
      p.pinned_version as "pinnedVersion", p.disabled_at as "partnerDisabledAt"
    from api_keys k join partners p on p.id = k.partner_id
    where k.hash = any(${[...hashes]})`;
}

/**
 * Locks a key, so that two operators cannot rotate it at the same time. A second statement reads the key. A single statement would wait for
 * the lock, and then see the ends of the key as they were before it waited.
 */
export async function lockApiKey(tx: Tx, id: string): Promise<(ApiKey & StoredKeyRights) | undefined> {
  await tx`select from api_keys where id = ${id} for update`;
  const [row] = await tx<(ApiKey & StoredKeyRights)[]>`
    select ${rightsColumns(tx)}, ${columns(tx)} from api_keys k where id = ${id}`;
  return row;
}

/** Locks a page of the rights of all keys, ordered by id. */
export function lockKeyRights(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredKeyRights[]> {
  return tx<StoredKeyRights[]>`
    select ${rightsColumns(tx)} from api_keys k where id > ${after} order by id limit ${limit} for update`;
}

export async function findKeyRights(db: Reader, id: string): Promise<StoredKeyRights | undefined> {
  const [row] = await db<StoredKeyRights[]>`select ${rightsColumns(db)} from api_keys k where id = ${id}`;
  return row;
}

export async function setKeyMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update api_keys k set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows as never)}) as m(id text, mac text) where k.id = m.id`;
}

/** The labels of these keys, including revoked keys. */
export function findKeyLabels(db: Reader, ids: readonly string[]): Promise<Pick<ApiKey, 'id' | 'label'>[]> {
  return db<Pick<ApiKey, 'id' | 'label'>[]>`select id, label from api_keys where id = any(${[...ids]}::text[])`;
}

export function listApiKeys(
  db: Reader,
  { partnerId, mode }: { readonly partnerId?: string | undefined; readonly mode?: Mode },
): Promise<ApiKey[]> {
  return db<ApiKey[]>`
    select ${columns(db)} from api_keys k
    where ${partnerId === undefined ? db`true` : db`partner_id = ${partnerId}`}
      and ${mode === undefined ? db`true` : db`mode = ${mode}`}
    order by id`;
}

export interface KeyQuery {
  readonly partnerId: string;
  readonly mode: Mode;
  /** Lists only keys whose merchants are all in this list. Null lists all keys. */
  readonly merchantIds: readonly string[] | null;
  /** Lists keys that are in force at this time. Undefined also lists expired and revoked keys. */
  readonly inForceAt: Date | undefined;
}

/** A page of keys with ids lower than `before`, the newest first. */
export function listKeysPage(
  db: Reader,
  { partnerId, mode, merchantIds, inForceAt }: KeyQuery,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<ApiKey[]> {
  const isSeen = merchantIds === null ? db`true` : db`k.merchant_ids <@ ${[...merchantIds]}::text[]`;
  const isInForce =
    inForceAt === undefined
      ? db`true`
      : db`k."revokedAt" is null and (k."expiresAt" is null or k."expiresAt" > ${inForceAt})`;
  return db<ApiKey[]>`
    select * from (
      select ${columns(db)} from api_keys k
      where k.partner_id = ${partnerId} and k.mode = ${mode} and ${isSeen}
        and ${before === undefined ? db`true` : db`k.id < ${before}`}
    ) k where ${isInForce} order by k.id desc limit ${limit}`;
}

/**
 * Revokes a key for good. Returns false if it was revoked before. Nodes of the previous version read the column `revoked_at`. It does not
 * decide whether the key was revoked before, because somebody could set it and clear it again. The database transaction must have locked
 * the key.
 */
export async function revokeApiKey(tx: Tx, { id, at }: { id: string; at: Date }): Promise<boolean> {
  const { count } = await tx`
    insert into api_key_ends (key_id, kind, at)
    select ${id}, 'revoked', ${at}::timestamptz
    where not exists (select from api_key_ends where key_id = ${id} and kind = 'revoked')`;
  await tx`update api_keys set revoked_at = ${at} where id = ${id} and revoked_at is null`;
  return count === 1;
}

/** Ends a key at `at`, because another key replaces it. An earlier end stays in force. */
export async function endApiKeyAt(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`insert into api_key_ends (key_id, kind, at) values (${id}, 'replaced', ${at}) on conflict do nothing`;
}

/** Stores the times at which keys were last used, in one statement. */
export async function recordKeyUses(tx: Tx, uses: ReadonlyMap<string, Date>): Promise<void> {
  await tx`
    update api_keys k set last_used_at = u.at::timestamptz
    from unnest(${[...uses.keys()]}::text[], ${[...uses.values()].map((at) => at.toISOString())}::text[]) as u(id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at::timestamptz)`;
}

function columns(db: Reader) {
  return db`k.id, k.partner_id as "partnerId", k.mode, k.hint, k.label, to_json(k.scopes) as scopes,
    to_json(k.merchant_ids) as "merchantIds", to_json(k.addresses) as addresses, k.rotated_from as "rotatedFrom",
    k.created_at as "createdAt", k.last_used_at as "lastUsedAt", ${endColumns(db)}`;
}

function rightsColumns(db: Reader) {
  return db`k.id, k.hash, k.partner_id as "partnerId", k.mode, to_json(k.scopes) as scopes,
    to_json(k.merchant_ids) as "merchantIds", to_json(k.addresses) as addresses, k.expires_at as "issuedUntil", k.mac`;
}

/**
 * The SQL columns of a key's ends. The earliest of several ends counts. An operator command of the previous version writes only
 * `revoked_at`.
 */
function endColumns(db: Reader) {
  const earliest = (kind: string) =>
    db`(select min(e.at) from api_key_ends e where e.key_id = k.id and e.kind = ${kind})`;
  return db`least(k.expires_at, ${earliest('replaced')}) as "expiresAt", least(k.revoked_at, ${earliest('revoked')}) as "revokedAt"`;
}
