import { pruneOver, pruneStopped, pruneUnsubscribed } from '../../store/webhooks/deliveries.ts';
import { type CommandDeps, command } from '../command.ts';

const DAY_MS = 24 * 3_600_000;
const BATCH = 1_000;

/**
 * Deletes old deliveries, deliveries of deleted endpoints, and deliveries that an endpoint is no longer subscribed to. Returns true
 * if there may be more.
 */
export async function pruneDeliveries(
  deps: CommandDeps,
  { keptDays }: { readonly keptDays: number },
): Promise<boolean> {
  const pruned = await command(deps, async (tx, now) => {
    const which = { before: new Date(now.getTime() - keptDays * DAY_MS), limit: BATCH };
    return [
      await pruneOver(tx, which),
      await pruneStopped(tx, which),
      await pruneUnsubscribed(tx, { now, limit: BATCH }),
    ];
  });
  return pruned.includes(BATCH);
}
