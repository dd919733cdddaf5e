import type { Tx } from './database.ts';

/** Makes transactions that name the same thing run one after the other. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}
