import { markDecided } from '../../../store/chain/chain-events.ts';
import { type CarriedOutSweep, endSweepsBy } from '../../../store/chain/deposit-places.ts';
import { markPlacesToCheck } from '../../../store/chain/movements.ts';
import { markPositionsOutdated } from '../../../store/money/positions.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { commandOfLeader } from '../../lease.ts';
import type { KnownEvent } from '../prove-events.ts';
import type { View, WatchDeps, Watcher } from '../watcher.ts';
import { settleOrLeaveOutdated } from './settle-position.ts';

/**
 * Payments in one transaction. Strangers can sweep any number of addresses in a block; a small page locks their payments only for a
 * moment.
 */
const PAGE = 20;

/**
 * Applies proved sweeps, ours and those of strangers: they are marked as decided, which makes them facts of their payments, and the
 * positions are computed in the same transaction. So the books never lack a decided sweep.
 */
export async function settleSwept(
  deps: WatchDeps,
  { network, lease }: Watcher,
  view: View,
  proved: readonly KnownEvent[],
): Promise<void> {
  const finalTimes = new Map([[network, Math.floor(view.finalAtMs / 1000)]]);
  const swept = proved.filter(({ event }) => event.type === 'swept');
  const byPayment = Map.groupBy(swept, ({ item }) => item.subject);
  const payments = [...byPayment.keys()].toSorted();
  for (let start = 0; start < payments.length; start += PAGE) {
    const page = payments.slice(start, start + PAGE);
    const sweeps = page.flatMap((paymentId) => byPayment.get(paymentId) ?? []);
    await commandOfLeader(deps, lease, async (tx, at) => {
      await lockPayments(tx, page);
      await endSweepsBy(tx, network, sweeps.map(carriedOut), at);
      const decided = sweeps.map(({ event }) => ({ ...event, problem: null }));
      await markDecided(tx, network, decided, at);
      // A served token may have been swept before its transfer was read, so the addresses are checked, too.
      await markPlacesToCheck(tx, network, [...new Set(sweeps.map(({ event }) => event.commitment))]);
      await markPositionsOutdated(tx, page, at);
      for (const paymentId of page) await settleOrLeaveOutdated(tx, deps, { paymentId, finalTimes }, at);
    });
    deps.world.crashPoint?.('deposit.swept');
  }
}

function carriedOut({ event, item }: KnownEvent): CarriedOutSweep {
  const { transactionHash: transaction, fields } = event;
  return { transaction, asset: fields.asset ?? '', address: item.payer, paymentId: item.subject };
}
