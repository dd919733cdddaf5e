import type { Tx } from './database.ts';

/** Limits the time that statements of this transaction wait for a lock. */
export async function limitLockWait(tx: Tx, waitMs: number): Promise<void> {
  await tx`select set_config('lock_timeout', ${String(waitMs)}, true)`;
}

/** Serializes transactions that lock the same name. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/** Locks several names in the given order, which must be the same everywhere, against deadlocks. */
export async function lockNames(tx: Tx, names: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names as string[]}::text[]) as n(name)`;
}
