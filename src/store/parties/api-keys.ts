import type { Mode } from '../../domain/mode.ts';
import type { Scope } from '../../domain/scope.ts';
import type { PinnableVersion } from '../../domain/version.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface ApiKey {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: Mode;
  /** The last characters of the key, to distinguish keys. */
  readonly hint: string;
  readonly label: string;
  /** null: everything. */
  readonly scopes: readonly Scope[] | null;
  /** null: every merchant of the partner. */
  readonly merchantIds: readonly string[] | null;
  /** IP addresses and networks (CIDR) the key works from. null: any address. */
  readonly addresses: readonly string[] | null;
  readonly rotatedFrom: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A key with the data of its partner that authentication needs. */
export interface KeyHolder
  extends Pick<
    ApiKey,
    'id' | 'partnerId' | 'mode' | 'label' | 'scopes' | 'merchantIds' | 'addresses' | 'expiresAt' | 'revokedAt'
  > {
  readonly hash: string;
  readonly pinnedVersion: PinnableVersion;
  readonly partnerDisabledAt: Date | null;
}

export async function insertApiKey(
  tx: Tx,
  key: Omit<ApiKey, 'revokedAt' | 'lastUsedAt'> & { hash: string },
): Promise<void> {
  await tx`
    insert into api_keys (
      id, partner_id, mode, hash, hint, label, scopes, merchant_ids, addresses, rotated_from, created_at, expires_at)
    values (${key.id}, ${key.partnerId}, ${key.mode}, ${key.hash}, ${key.hint}, ${key.label},
      ${key.scopes && [...key.scopes]}, ${key.merchantIds && [...key.merchantIds]},
      ${key.addresses && [...key.addresses]}, ${key.rotatedFrom}, ${key.createdAt}, ${key.expiresAt})`;
}

export function findKeyHolders(db: Reader, hashes: readonly string[]): Promise<KeyHolder[]> {
  return db<KeyHolder[]>`
    select k.hash, k.id, k.partner_id as "partnerId", k.mode, k.label, to_json(k.scopes) as scopes, to_json(k.merchant_ids) as "merchantIds",
      to_json(k.addresses) as addresses, k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
      p.pinned_version as "pinnedVersion", p.disabled_at as "partnerDisabledAt"
    from api_keys k join partners p on p.id = k.partner_id
    where k.hash = any(${[...hashes]})`;
}

/** Locks the row, so that two operators cannot rotate one key at once. */
export async function lockApiKey(tx: Tx, id: string): Promise<ApiKey | undefined> {
  const [row] = await tx<ApiKey[]>`select ${columns(tx)} from api_keys where id = ${id} for update`;
  return row;
}

export function listApiKeys(db: Reader, { partnerId }: { partnerId?: string | undefined }): Promise<ApiKey[]> {
  return db<ApiKey[]>`
    select ${columns(db)} from api_keys
    where ${partnerId === undefined ? db`true` : db`partner_id = ${partnerId}`}
    order by id`;
}

export async function revokeApiKey(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`update api_keys set revoked_at = ${at} where id = ${id} and revoked_at is null`;
}

/** Brings a key's end forward; an earlier end stays. */
export async function endApiKeyAt(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`update api_keys set expires_at = least(expires_at, ${at}::timestamptz) where id = ${id}`;
}

/** One statement for all keys used since the last call. */
export async function recordKeyUses(tx: Tx, uses: ReadonlyMap<string, Date>): Promise<void> {
  await tx`
    update api_keys k set last_used_at = u.at::timestamptz
    from unnest(${[...uses.keys()]}::text[], ${[...uses.values()].map((at) => at.toISOString())}::text[]) as u(id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at::timestamptz)`;
}

function columns(db: Reader) {
  return db`id, partner_id as "partnerId", mode, hint, label, to_json(scopes) as scopes, to_json(merchant_ids) as "merchantIds",
    to_json(addresses) as addresses, rotated_from as "rotatedFrom", created_at as "createdAt", expires_at as "expiresAt",
    revoked_at as "revokedAt", last_used_at as "lastUsedAt"`;
}
