import { API_KEY_RANDOM_BYTES, formatApiKey, hashApiKey, keyStatusAt } from '../../domain/api-key.ts';
import { newId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { exceededQuota, type Quota, quotaHolder } from '../../domain/quota.ts';
import type { Scope } from '../../domain/scope.ts';
import { ApiError } from '../../errors.ts';
import { type ApiKey, endApiKeyAt, listApiKeys, lockApiKey, revokeApiKey } from '../../store/parties/api-keys.ts';
import { listOwnMerchants, type Owner } from '../../store/parties/merchants.ts';
import { findPartner } from '../../store/parties/partners.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { lockLivingMerchant } from './change-merchant.ts';
import { partnerNotFound } from './change-partner.ts';
import { isOwnKey, putKey } from './key-rows.ts';

export interface IssueKeyInput {
  readonly actor: string;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly label: string;
  readonly scopes: readonly Scope[] | null;
  readonly merchantIds: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly expiresAt: Date | null;
  /**
   * The maximum number of active keys that the partner and its merchants may have in the mode. Undefined for operators, who have no
   * limit.
   */
  readonly quota?: Quota;
}

/** A new key. Its secret is known only now, because the database stores only a hash. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

export function issueKey(deps: CommandDeps & RowKeyDeps, input: IssueKeyInput): Promise<IssuedKey> {
  return command(deps, async (tx, now) => {
    if ((await findPartner(tx, input.partnerId)) === undefined) throw partnerNotFound(input.partnerId);
    // The locks prevent a key for a merchant that is being deleted. They are taken in the order of the ids, so that two requests that
    // name the same merchants cannot deadlock.
    for (const id of [...new Set(input.merchantIds)].toSorted()) await lockLivingMerchant(tx, input, id);
    const { actor, quota, ...settings } = input;
    if (quota !== undefined) await refuseBeyond(tx, now, input, quota);
    const isNew = { before: null, settings: { ...settings, rotatedFrom: null } };
    return insertKey(deps, tx, now, { actor, action: 'key.issued', ...isNew });
  });
}

export interface RotateKeyInput {
  readonly actor: string;
  readonly keyId: string;
  readonly overlapMs: number;
  /** The expiry of the new key, which does not inherit that of the old one. */
  readonly expiresAt: Date | null;
  readonly check?: KeyCheck;
}

/** Throws if the caller may not rotate or revoke the key. */
export type KeyCheck = (key: ApiKey) => void;

/** A successor, and the replaced key with its new expiry. */
export interface RotatedKey extends IssuedKey {
  readonly replaced: ApiKey & { readonly hash: string };
}

/**
 * Replaces a key by a successor with the same rights. The old key works until the overlap is over. No limit on the number of keys
 * applies, because the owner of a stolen key must always be able to replace it.
 */
export function rotateKey(deps: CommandDeps & RowKeyDeps, input: RotateKeyInput): Promise<RotatedKey> {
  return command(deps, async (tx, now) => {
    const old = await lockApiKey(tx, input.keyId);
    if (old === undefined) throw keyNotFound(input.keyId);
    input.check?.(old);
    if (keyStatusAt(now, old) !== 'active') {
      throw new ApiError('invalid_state', `Key ${old.id} is revoked or expired: issue a new one instead.`);
    }
    if (old.merchantIds !== null && (await listOwnMerchants(tx, old, old.merchantIds)).length === 0) {
      throw new ApiError('invalid_state', `The merchants of key ${old.id} are deleted: revoke it.`);
    }
    // The successor would get a valid MAC, which would confirm rights that the gateway did not grant.
    if (!isOwnKey(deps, old)) {
      throw new ApiError('invalid_state', `Key ${old.id} was not issued by the gateway, or was changed: revoke it.`);
    }
    await refuseLongLine(tx, now, old, input.overlapMs);
    await endApiKeyAt(tx, { id: old.id, at: new Date(now.getTime() + input.overlapMs) });
    const { partnerId, mode, label, scopes, merchantIds, addresses } = old;
    const { actor, expiresAt } = input;
    const issued = await insertKey(deps, tx, now, {
      actor,
      action: 'key.rotated',
      before: { id: old.id, expiresAt: old.expiresAt },
      settings: { partnerId, mode, label, scopes, merchantIds, addresses, expiresAt, rotatedFrom: old.id },
    });
    // The old key is read again, because it may have had an expiry before the end of the overlap, which stays in force.
    const replaced = (await lockApiKey(tx, old.id)) ?? old;
    return { ...issued, replaced };
  });
}

/** Revokes a key. Every node refuses it within five seconds. Returns the hash of the key. */
export function revokeKey(
  deps: CommandDeps,
  input: { readonly actor: string; readonly keyId: string; readonly check?: KeyCheck },
): Promise<{ readonly hash: string }> {
  return command(deps, async (tx, now) => {
    const key = await lockApiKey(tx, input.keyId);
    if (key === undefined) throw keyNotFound(input.keyId);
    input.check?.(key);
    const { hash } = key;
    if (!(await revokeApiKey(tx, { id: key.id, at: now }))) return { hash };
    const detail = { before: { expiresAt: key.expiresAt, revokedAt: null }, after: { revokedAt: now } };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'key.revoked', subject: key.id, detail });
    return { hash };
  });
}

interface NewKey {
  readonly actor: string;
  readonly action: string;
  /** The replaced key. Null if the new key replaces none. */
  readonly before: Pick<ApiKey, 'id' | 'expiresAt'> | null;
  readonly settings: Omit<IssueKeyInput, 'actor'> & { readonly rotatedFrom: string | null };
}

async function insertKey(
  deps: CommandDeps & RowKeyDeps,
  tx: Tx,
  now: Date,
  { actor, action, before, settings }: NewKey,
): Promise<IssuedKey> {
  const secret = formatApiKey(settings.mode, deps.world.random.bytes(API_KEY_RANDOM_BYTES));
  const key: ApiKey = {
    ...settings,
    id: newId('key_', now.getTime(), deps.world.random.bytes(10)),
    hint: secret.slice(-4),
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
  };
  await putKey(tx, deps, { ...key, hash: hashApiKey(secret) });
  await appendAudit(tx, { at: now, actor, action, subject: key.id, detail: { before, after: settings } });
  return { key, secret };
}

async function listActive(tx: Tx, now: Date, { partnerId, mode }: Owner): Promise<ApiKey[]> {
  // The lock prevents that concurrent requests exceed a limit together.
  await lockName(tx, `api keys ${partnerId}/${mode}`);
  return (await listApiKeys(tx, { partnerId, mode })).filter((key) => keyStatusAt(now, key) === 'active');
}

/** Throws if another key would exceed the quota. A key with an active successor does not count: the successor counts instead. */
async function refuseBeyond(
  tx: Tx,
  now: Date,
  { merchantIds, ...owner }: Owner & Pick<ApiKey, 'merchantIds'>,
  quota: Quota,
): Promise<void> {
  const active = await listActive(tx, now, owner);
  const replaced = new Set(active.map(({ rotatedFrom }) => rotatedFrom));
  const counted = active.filter(({ id }) => !replaced.has(id)).map((key) => key.merchantIds);
  const limit = exceededQuota(quota, merchantIds, counted);
  if (limit === undefined) return;
  const whose = quotaHolder(merchantIds) === null ? '' : ' for the merchant';
  const message = `There are ${limit} API keys${whose} in force, which is the most. Revoke one first.`;
  throw new ApiError('invalid_state', message, { status: 409 });
}

/** The maximum number of older keys that work beside the newest one, counted along a chain of rotations. */
const MAX_PREDECESSORS = 5;

/** Throws if the key has an active successor, or too many active predecessors. This bounds rotations, to which no other limit applies. */
async function refuseLongLine(tx: Tx, now: Date, old: ApiKey, overlapMs: number): Promise<void> {
  const active = new Map((await listActive(tx, now, old)).map((key) => [key.id, key]));
  const successor = [...active.values()].find(({ rotatedFrom }) => rotatedFrom === old.id);
  if (successor !== undefined) {
    const message = `Key ${old.id} was rotated before. Rotate its successor ${successor.id}, or revoke that one first.`;
    throw new ApiError('invalid_state', message, { status: 409 });
  }
  let predecessors = overlapMs > 0 ? 1 : 0;
  for (let id = old.rotatedFrom; id !== null; id = active.get(id)?.rotatedFrom ?? null) {
    if (active.has(id)) predecessors += 1;
  }
  if (predecessors <= MAX_PREDECESSORS) return;
  const message = `${MAX_PREDECESSORS} older keys of this line still work. Revoke one, or rotate with overlapSeconds 0.`;
  throw new ApiError('invalid_state', message, { status: 409 });
}

export function keyNotFound(id: string): ApiError {
  return new ApiError('api_key_not_found', `There is no API key ${id}.`);
}
