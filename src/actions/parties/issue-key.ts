import { API_KEY_RANDOM_BYTES, formatApiKey, hashApiKey } from '../../domain/api-key.ts';
import { newId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Scope } from '../../domain/scope.ts';
import { ApiError } from '../../errors.ts';
import { type ApiKey, endApiKeyAt, lockApiKey, revokeApiKey } from '../../store/parties/api-keys.ts';
import { findMerchant } from '../../store/parties/merchants.ts';
import { findPartner } from '../../store/parties/partners.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { merchantNotFound } from './change-merchant.ts';
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
}

/** A key that was just made: the only moment its secret is known. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

export function issueKey(deps: CommandDeps & RowKeyDeps, input: IssueKeyInput): Promise<IssuedKey> {
  return command(deps, async (tx, now) => {
    if ((await findPartner(tx, input.partnerId)) === undefined) throw partnerNotFound(input.partnerId);
    for (const id of input.merchantIds ?? []) {
      if ((await findMerchant(tx, input, id)) === undefined) throw merchantNotFound(id);
    }
    const { actor, ...settings } = input;
    const isNew = { before: null, settings: { ...settings, rotatedFrom: null } };
    return insertKey(deps, tx, now, { actor, action: 'key.issued', ...isNew });
  });
}

export interface RotateKeyInput {
  readonly actor: string;
  readonly keyId: string;
  readonly overlapMs: number;
  /** The end of the successor. It does not inherit the end of its predecessor. */
  readonly expiresAt: Date | null;
}

/** Makes a successor with the same rights; the old key works until the overlap is over. */
export function rotateKey(deps: CommandDeps & RowKeyDeps, input: RotateKeyInput): Promise<IssuedKey> {
  return command(deps, async (tx, now) => {
    const old = await lockApiKey(tx, input.keyId);
    if (old === undefined) throw keyNotFound(input.keyId);
    if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt <= now)) {
      throw new ApiError('invalid_state', `Key ${old.id} is revoked or expired: issue a new one instead.`);
    }
    // A successor would make rights genuine that the gateway did not give.
    if (!isOwnKey(deps, old)) {
      throw new ApiError('invalid_state', `Key ${old.id} was not issued by the gateway, or was changed: revoke it.`);
    }
    await endApiKeyAt(tx, { id: old.id, at: new Date(now.getTime() + input.overlapMs) });
    const { partnerId, mode, label, scopes, merchantIds, addresses } = old;
    const { actor, expiresAt } = input;
    return insertKey(deps, tx, now, {
      actor,
      action: 'key.rotated',
      before: { id: old.id, expiresAt: old.expiresAt },
      settings: { partnerId, mode, label, scopes, merchantIds, addresses, expiresAt, rotatedFrom: old.id },
    });
  });
}

/** Every node refuses it within five seconds. */
export function revokeKey(deps: CommandDeps, input: { actor: string; keyId: string }): Promise<void> {
  return command(deps, async (tx, now) => {
    const key = await lockApiKey(tx, input.keyId);
    if (key === undefined) throw keyNotFound(input.keyId);
    if (!(await revokeApiKey(tx, { id: key.id, at: now }))) return;
    const detail = { before: { expiresAt: key.expiresAt, revokedAt: null }, after: { revokedAt: now } };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'key.revoked', subject: key.id, detail });
  });
}

interface NewKey {
  readonly actor: string;
  readonly action: string;
  /** The key that it replaces. */
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

function keyNotFound(id: string): ApiError {
  return new ApiError('api_key_not_found', `There is no API key ${id}.`);
}
