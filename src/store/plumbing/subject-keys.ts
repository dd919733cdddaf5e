import type { Tx } from './database.ts';
import type { Reader } from './statement.ts';

/** A sealing key that was derived from a former master secret, encrypted with the present one. */
export interface StoredSubjectKey {
  readonly id: string;
  readonly wrapped: string;
}

/** The stored sealing keys, the newest first. */
export function listSubjectKeys(sql: Reader): Promise<StoredSubjectKey[]> {
  return sql<StoredSubjectKey[]>`select id, wrapped from subject_keys order by retired_at desc, id`;
}

/** Deletes sealing keys that can no longer be decrypted. */
export async function deleteSubjectKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx`delete from subject_keys where id = any(${ids as string[]}::text[])`;
}

/** Stores sealing keys of former master secrets. A key that is already stored gets the new encrypted form. */
export async function putSubjectKeys(tx: Tx, keys: readonly StoredSubjectKey[], now: Date): Promise<void> {
  await tx`
    insert into subject_keys (id, wrapped, retired_at)
    select k.id, k.wrapped, ${now}::timestamptz
    from jsonb_to_recordset(${tx.json(keys as never)}) as k(id text, wrapped text)
    on conflict (id) do update set wrapped = excluded.wrapped`;
}
