import { prunePaymentKeys } from '../store/payments/new-payments.ts';
import { pruneKeys } from '../store/plumbing/idempotency-keys.ts';
import { type CommandDeps, command } from './command.ts';

const RETENTION_MS = 8 * 24 * 3_600_000; // clients are promised seven days
const BATCH = 1_000;

/** Deletes old Idempotency-Keys. Returns true if there may be more to delete. */
export async function pruneIdempotencyKeys(deps: CommandDeps): Promise<boolean> {
  const pruned = await command(deps, async (tx, now) => {
    const which = { before: new Date(now.getTime() - RETENTION_MS), limit: BATCH };
    return [await pruneKeys(tx, which), await prunePaymentKeys(tx, which)];
  });
  return pruned.includes(BATCH);
}
