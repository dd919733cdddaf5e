import type { Tx } from './database.ts';
import type { Reader } from './statement.ts';

/** A sealing key derived from a master secret that has been replaced. */
export interface StoredSubjectKey {
  readonly id: string;
  readonly wrapped: string;
}

/** The newest first. */
export function listSubjectKeys(sql: Reader): Promise<StoredSubjectKey[]> {
  return sql<StoredSubjectKey[]>`select id, wrapped from subject_keys order by retired_at desc, id`;
}

/** Deletes keys that can no longer be unwrapped. */
export async function deleteSubjectKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx`delete from subject_keys where id = any(${ids as string[]}::text[])`;
}

/** Stores retired keys, or replaces the wrapping of stored keys. */
export async function putSubjectKeys(tx: Tx, keys: readonly StoredSubjectKey[], now: Date): Promise<void> {
  await tx`
    insert into subject_keys (id, wrapped, retired_at)
    select k.id, k.wrapped, ${now}::timestamptz
    from jsonb_to_recordset(${tx.json(keys as never)}) as k(id text, wrapped text)
    on conflict (id) do update set wrapped = excluded.wrapped`;
}
