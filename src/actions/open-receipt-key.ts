import { type ReceiptKey, receiptKeyOf } from '../domain/receipt.ts';
import { type Secrets, WrongSecretError, wrappedBy } from '../runtime/secrets.ts';
import { appendAudit } from '../store/plumbing/audit-log.ts';
import type { Reader, Tx } from '../store/plumbing/database.ts';
import { lockName } from '../store/plumbing/locks.ts';
import { insertReceiptKey, listReceiptKeys, retireReceiptKeys } from '../store/plumbing/receipt-keys.ts';
import { takeClearKeys } from '../store/plumbing/shared-values.ts';
import { type CommandDeps, command } from './command.ts';

export interface SecretDeps extends CommandDeps {
  readonly secrets: Secrets;
}

export class OtherMasterSecretError extends Error {
  constructor() {
    super(
      'the secrets in this database were wrapped with another master secret. Set TILL_SECRET or TILL_SECRET_FILE to the ' +
        'master secret of the nodes that use this database. A sandbox keeps its own in the file "secret" in its TILL_HOME.',
    );
    this.name = 'OtherMasterSecretError';
  }
}

const PURPOSE = 'receipt key';
const SEED_BYTES = 32;

/**
 * The key that signs receipts. The first node creates it, and all nodes share it. A key that an older version stored in clear text
 * is wrapped, and its clear copy is deleted.
 */
export function openReceiptKey(deps: SecretDeps): Promise<ReceiptKey> {
  return command(deps, async (tx, now) => {
    await lockName(tx, PURPOSE);
    const clear = await takeClearKeys(tx);
    if (clear.size > 0) await noteWrapped(tx, [...clear.keys()], now);
    const clearSeed = clear.get('receipt');
    const signing = await findSigningKey(tx, deps);
    if (signing === undefined) return storeKey(tx, deps, { seed: clearSeed ?? newSeed(deps), now });
    // A node of an older version was started after a newer one, and signed receipts with the clear key. Those receipts must stay
    // verifiable.
    if (clearSeed !== undefined) await storeRetired(tx, clearSeed, now);
    return signing;
  });
}

/**
 * Replaces the key that signs receipts, and returns the ids of the old and the new key. Throws if the configured master secret does not
 * open the old key, unless the right master secret is lost.
 */
export async function renewReceiptKey(
  tx: Tx,
  deps: SecretDeps,
  { isLost, now }: { readonly isLost: boolean; readonly now: Date },
): Promise<{ before: string | null; after: string }> {
  await lockName(tx, PURPOSE);
  const before = isLost ? undefined : await findSigningKey(tx, deps);
  await retireReceiptKeys(tx, now);
  const { publicJwk } = await storeKey(tx, deps, { seed: newSeed(deps), now });
  return { before: before?.publicJwk.kid ?? null, after: publicJwk.kid };
}

/**
 * True if this node has the master secret that wraps the secrets of the database. False after a rotation to a master secret that the
 * settings of this node do not contain yet.
 */
export async function knowsNewestSecret(db: Reader, { ids }: Pick<Secrets, 'ids'>): Promise<boolean> {
  const newest = await newestSecretId(db);
  return newest === undefined || ids.includes(newest);
}

/** The id of the master secret that wraps the secrets of the database. Undefined before the first node has started. */
export async function newestSecretId(db: Reader): Promise<string | undefined> {
  const keys = await listReceiptKeys(db);
  const wrapped = keys.map(({ wrappedSeed }) => wrappedSeed).find((seed) => seed !== null);
  return wrapped == null ? undefined : wrappedBy(wrapped);
}

/** Throws an `OtherMasterSecretError` if the configured master secret does not open the secrets of the database. */
export async function refuseOtherSecret(deps: SecretDeps): Promise<void> {
  await findSigningKey(deps.db.sql, deps);
}

async function findSigningKey(db: Reader, { secrets }: SecretDeps): Promise<ReceiptKey | undefined> {
  const keys = await listReceiptKeys(db);
  const wrapped = keys.map(({ wrappedSeed }) => wrappedSeed).find((seed) => seed !== null);
  if (wrapped === undefined) return undefined;
  try {
    return receiptKeyOf(secrets.unwrap(PURPOSE, wrapped));
  } catch (error) {
    throw error instanceof WrongSecretError ? new OtherMasterSecretError() : error;
  }
}

function newSeed({ world }: SecretDeps): Uint8Array {
  return world.random.bytes(SEED_BYTES);
}

async function storeKey(
  tx: Tx,
  { secrets }: SecretDeps,
  { seed, now }: { readonly seed: Uint8Array; readonly now: Date },
): Promise<ReceiptKey> {
  const key = receiptKeyOf(seed);
  const { kid: id, x: publicKey } = key.publicJwk;
  await insertReceiptKey(tx, { id, publicKey, wrappedSeed: secrets.wrap(PURPOSE, seed) }, now);
  return key;
}

async function storeRetired(tx: Tx, seed: Uint8Array, now: Date): Promise<void> {
  const { kid: id, x: publicKey } = receiptKeyOf(seed).publicJwk;
  await insertReceiptKey(tx, { id, publicKey, wrappedSeed: null }, now);
}

function noteWrapped(tx: Tx, names: readonly string[], at: Date): Promise<void> {
  return appendAudit(tx, { at, actor: 'gateway', action: 'secret.wrapped', subject: 'secrets', detail: { names } });
}
