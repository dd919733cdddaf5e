import type { Tx } from './database.ts';
import type { Reader } from './statement.ts';

export interface StoredReceiptKey {
  readonly id: string;
  /** The public key in base64url. */
  readonly publicKey: string;
  /** The encrypted private key. Null after another key has replaced this one. */
  readonly wrappedSeed: string | null;
}

/** Every key that has ever signed a receipt, the newest first. */
export function listReceiptKeys(sql: Reader): Promise<StoredReceiptKey[]> {
  return sql<StoredReceiptKey[]>`
    select id, public_key as "publicKey", wrapped_seed as "wrappedSeed" from receipt_keys
    order by retired_at desc nulls first, created_at desc`;
}

export async function insertReceiptKey(tx: Tx, key: StoredReceiptKey, now: Date): Promise<void> {
  const retiredAt = key.wrappedSeed === null ? now : null;
  await tx`
    insert into receipt_keys (id, public_key, wrapped_seed, created_at, retired_at)
    values (${key.id}, ${key.publicKey}, ${key.wrappedSeed}, ${now}, ${retiredAt}) on conflict do nothing`;
}

/** Deletes the private keys of all receipt keys. Their public keys stay, so that old receipts can be verified. */
export async function retireReceiptKeys(tx: Tx, now: Date): Promise<void> {
  await tx`update receipt_keys set wrapped_seed = null, retired_at = ${now} where retired_at is null`;
}
