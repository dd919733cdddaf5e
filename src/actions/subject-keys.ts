import { hash } from 'node:crypto';
import { familyOf } from '../chains/families.ts';
import type { PayerSide } from '../chains/payer-side.ts';
import type { Item } from '../domain/item.ts';
import type { KeyRing } from '../domain/key-ring.ts';
import { sealOf } from '../domain/seal.ts';
import { type Secrets, WrongSecretError } from '../runtime/secrets.ts';
import { appendAudit } from '../store/plumbing/audit-log.ts';
import type { Reader } from '../store/plumbing/database.ts';
import {
  deleteSubjectKeys,
  listSubjectKeys,
  putSubjectKeys,
  type StoredSubjectKey,
} from '../store/plumbing/subject-keys.ts';
import { type CommandDeps, command } from './command.ts';

export interface SubjectKeyDeps {
  /** Keys that seal the subjects of items (`domain/seal.ts`). The newest comes first; older ones only open their own seals. */
  readonly subjectKeys: KeyRing;
}

const PURPOSE = 'subject';
const ID_DIGITS = 16;

export function subjectKeysOf(secrets: Secrets): KeyRing {
  return secrets.deriveEach(PURPOSE);
}

/**
 * The keys that seal subjects, of all master secrets that were ever in use: those of the configured secrets, and the stored keys of
 * earlier secrets. A stored key that cannot be opened belongs to a newer master secret, which this node gets with its next settings. A
 * node skips such a key. A command that reads the past needs all keys (`needsAll`), and gets a `WrongSecretError` instead.
 */
export async function openSubjectKeys(
  { db, secrets }: { readonly db: { readonly sql: Reader }; readonly secrets: Secrets },
  { needsAll }: { readonly needsAll: boolean },
): Promise<KeyRing> {
  const [newest, ...older] = subjectKeysOf(secrets);
  const stored = unwrapAll(secrets, await listSubjectKeys(db.sql), { isLost: !needsAll });
  const known = new Set([newest, ...older].map(idOf));
  return [newest, ...older, ...stored.filter((key) => !known.has(idOf(key)))];
}

/**
 * Stores the subject keys of older master secrets, wrapped with the newest secret, and returns their number. Without them the chain could
 * not be read into an empty database after the older master secret is gone.
 */
export function retireSubjectKeys(
  deps: CommandDeps & { readonly secrets: Secrets },
  { isLost }: { readonly isLost: boolean },
): Promise<number> {
  const { secrets } = deps;
  return command(deps, async (tx, now) => {
    const [, ...older] = subjectKeysOf(secrets);
    const rows = await listSubjectKeys(tx);
    const stored = unwrapAll(secrets, rows, { isLost });
    const opened = new Set(stored.map(idOf));
    await deleteSubjectKeys(
      tx,
      rows.flatMap(({ id }) => (opened.has(id) ? [] : [id])),
    );
    const retired = [...older, ...stored].map((key) => ({ id: idOf(key), wrapped: secrets.wrap(PURPOSE, key) }));
    const unique = [...new Map(retired.map((key) => [key.id, key])).values()];
    if (unique.length > 0) await putSubjectKeys(tx, unique, now);
    return unique.length;
  });
}

/**
 * Stores the subject keys from an exported head of the books, for a database that has lost its own keys. Returns their number. Throws a
 * `WrongSecretError` if a key was wrapped with a master secret that is not configured.
 */
export function importSubjectKeys(
  deps: CommandDeps & { readonly secrets: Secrets },
  keys: readonly StoredSubjectKey[],
  actor: string,
): Promise<number> {
  const opened = unwrapAll(deps.secrets, keys, { isLost: false });
  return command(deps, async (tx, now) => {
    const wrapped = opened.map((key) => ({ id: idOf(key), wrapped: deps.secrets.wrap(PURPOSE, key) }));
    if (wrapped.length > 0) await putSubjectKeys(tx, wrapped, now);
    const detail = { keys: wrapped.map(({ id }) => id) };
    await appendAudit(tx, { at: now, actor, action: 'secret.imported', subject: 'secrets', detail });
    return wrapped.length;
  });
}

/** Decrypts stored subject keys. With `isLost`, skips keys that no configured master secret opens. */
function unwrapAll(
  secrets: Secrets,
  stored: readonly StoredSubjectKey[],
  { isLost }: { isLost: boolean },
): Uint8Array[] {
  return stored.flatMap(({ wrapped }) => {
    try {
      return [new Uint8Array(secrets.unwrap(PURPOSE, wrapped))];
    } catch (error) {
      if (isLost && error instanceof WrongSecretError) return [];
      throw error;
    }
  });
}

function idOf(key: Uint8Array): string {
  return hash('sha256', key, 'hex').slice(0, ID_DIGITS);
}

/**
 * The item with its seal, if its contract emits seals. `sealedId` is the encrypted id stored with the payment, so that all items of a
 * payment, and all answers to one wallet, show the same encrypted id.
 */
export function sealItem(
  { subjectKeys }: SubjectKeyDeps,
  payerSide: Pick<PayerSide, 'sealedTerms'>,
  item: Item,
  sealedId?: string | null,
): Item {
  if (!familyOf(item.network).isSealed(item.collector)) return item;
  const terms = payerSide.sealedTerms(item);
  return { ...item, seal: sealOf(subjectKeys, { id: item.subject, stored: sealedId, terms }) };
}
