import { markDecided } from '../../../store/chain/chain-events.ts';
import { endSweepsBy } from '../../../store/chain/deposit-places.ts';
import { markPlacesStale } from '../../../store/chain/movements.ts';
import { markPositionsStale } from '../../../store/money/positions.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { commandOfLeader } from '../../lease.ts';
import type { KnownEvent } from '../prove-events.ts';
import type { View, WatchDeps, Watcher } from '../watcher.ts';
import { settleOrLeaveStale } from './settle-position.ts';

/**
 * Applies proved sweeps, of ours or of strangers: each is marked as decided, which makes it a fact of its payment, and the
 * position is computed in the same transaction. So the books never lack a sweep that is decided.
 */
export async function settleSwept(
  deps: WatchDeps,
  { network, lease }: Watcher,
  view: View,
  proved: readonly KnownEvent[],
): Promise<void> {
  const finalTimes = new Map([[network, Math.floor(view.finalAtMs / 1000)]]);
  const swept = proved.filter(({ event }) => event.type === 'swept');
  // A stranger may sweep one address many times in a block: one transaction for all of them.
  for (const [paymentId, events] of Map.groupBy(swept, ({ item }) => item.subject)) {
    await commandOfLeader(deps, lease, async (tx, at) => {
      await lockPayments(tx, [paymentId]);
      for (const { event, item } of events) {
        const sweep = { network, asset: event.fields.asset ?? '', address: item.payer, subject: paymentId };
        await endSweepsBy(tx, { ...sweep, transaction: event.transactionHash, at });
      }
      const decided = events.map(({ event }) => ({ ...event, problem: null }));
      await markDecided(tx, network, decided, at);
      // A served token may have been swept before its transfer was read: the place is looked at, too.
      await markPlacesStale(tx, network, [...new Set(events.map(({ event }) => event.commitment))]);
      await markPositionsStale(tx, [paymentId], at);
      await settleOrLeaveStale(tx, deps, { paymentId, finalTimes }, at);
    });
    deps.world.crashPoint?.('deposit.swept');
  }
}
