import type { Tx } from './database.ts';

/** Limits the time that statements of this transaction wait for locks. */
export async function limitLockWait(tx: Tx, waitMs: number): Promise<void> {
  await tx`select set_config('lock_timeout', ${String(waitMs)}, true)`;
}

/** Makes transactions that name the same thing run one after the other. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/** The same for several names. They are locked in their order, which must be the same everywhere. */
export async function lockNames(tx: Tx, names: readonly string[]): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names as string[]}::text[]) as n(name)`;
}
