import type { Tx } from './database.ts';

/** Limits the time for which the later statements of this database transaction wait for a lock. */
export async function limitLockWait(tx: Tx, waitMs: number): Promise<void> {
  await tx`select set_config('lock_timeout', ${String(waitMs)}, true)`;
}

/** Takes an advisory lock on a name. Database transactions that lock the same name run one after the other. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/** Takes advisory locks on several names in the given order. The order must be the same everywhere, to prevent deadlocks. */
export async function lockNames(tx: Tx, names: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names as string[]}::text[]) as n(name)`;
}
