import type { MacFields } from '../../domain/row-mac.ts';
import {
  type ApiKey,
  insertApiKey,
  type KeyRights,
  lockKeyRights,
  type StoredKeyRights,
  setKeyMacs,
} from '../../store/parties/api-keys.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { adoptOnce } from '../adopt-once.ts';
import type { CommandDeps } from '../command.ts';
import { type Pages, renewMacs, within } from '../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../row-keys.ts';

/** API keys decide who may act for a partner, so each row carries a MAC under a key outside the database. */

const TABLE = 'api_keys';

const { macOf, isOwn } = macsOf(TABLE, fieldsOf);
/** True if the gateway issued the key with exactly these rights. */
export const isOwnKey: (deps: RowKeyDeps, row: StoredKeyRights) => boolean = isOwn;

export function putKey(tx: Tx, deps: RowKeyDeps, key: ApiKey & { readonly hash: string }): Promise<void> {
  return insertApiKey(tx, { ...key, mac: macOf(deps, { ...key, issuedUntil: key.expiresAt }) });
}

export function forgedKeyMessage({ id, partnerId }: StoredKeyRights): string {
  return `The API key ${id} of ${partnerId} was not issued by the gateway, or its rights were changed. It is refused. Find out who has written to the database. Revoke the key, and issue a new one.`;
}

export function adoptKeys(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return adoptOnce(deps, TABLE, (tx) => renewKeyMacs(within(tx), deps, ({ mac }) => mac === null));
}

export function renewKeyMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: StoredKeyRights) => boolean,
): Promise<number> {
  const rows = {
    lock: lockKeyRights,
    macOf: (row: StoredKeyRights) => macOf(deps, row),
    write: setKeyMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

/**
 * The fields that the MAC covers: everything that decides about the rights of the key. A later change of its expiry is a separate
 * row, outside the MAC.
 */
function fieldsOf({ id, hash, partnerId, mode, scopes, merchantIds, addresses, issuedUntil }: KeyRights): MacFields {
  const list = (of: readonly string[] | null) => of && JSON.stringify(of);
  const lists = { scopes: list(scopes), merchantIds: list(merchantIds), addresses: list(addresses) };
  return { id, hash, partnerId, mode, ...lists, issuedUntil: issuedUntil?.toISOString() ?? null };
}
