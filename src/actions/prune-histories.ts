import { pruneLostEvents } from '../store/chain/attempt-history.ts';
import { pruneVisits } from '../store/payments/payment-steps.ts';
import { prunePastAlerts } from '../store/plumbing/alerts.ts';
import { pruneTakeovers } from '../store/plumbing/leases.ts';
import { type CommandDeps, command } from './command.ts';

/**
 * The retention of past alerts, takeovers of leases, lost events and visits. The first three only help people to understand the past. A
 * visit must be kept as long as its payment can be opened, or the next visit would be counted as a new one.
 */
const RETENTION_MS = 90 * 24 * 3_600_000;
const AT_ONCE = 1_000;

/** Deletes old visits, and old rows of the histories that `till explain` reads. Returns true if there are more. */
export function pruneHistories(deps: CommandDeps): Promise<boolean> {
  return command(deps, async (tx, now) => {
    const old = { before: new Date(now.getTime() - RETENTION_MS), limit: AT_ONCE };
    const counts = [
      await prunePastAlerts(tx, old),
      await pruneTakeovers(tx, old),
      await pruneLostEvents(tx, old),
      await pruneVisits(tx, old),
    ];
    return counts.includes(AT_ONCE);
  });
}
