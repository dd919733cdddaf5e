import { markDecided } from '../../../store/chain/chain-events.ts';
import { type CarriedOutSweep, endSweepsBy, listPlacesOf, searchPlace } from '../../../store/chain/deposit-places.ts';
import { markPlacesToCheck } from '../../../store/chain/movements.ts';
import { markPositionsOutdated } from '../../../store/money/positions.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { commandOfLeader } from '../../lease.ts';
import type { KnownEvent } from '../prove-events.ts';
import type { WatchDeps, Watcher } from '../watcher.ts';
import { settleOrLeaveOutdated } from './settle-position.ts';

/**
 * The maximum number of payments in one database transaction. Strangers can sweep any number of addresses in a block; a small page
 * locks their payments only for a moment.
 */
const PAGE = 20;

/**
 * Applies proved sweeps, ours and those of strangers. Marks them as decided, which makes them facts of their payments, and computes
 * the payments' lots in the same database transaction. So the books never lack a decided sweep.
 */
export async function settleSwept(
  deps: WatchDeps,
  { network, lease }: Watcher,
  proved: readonly KnownEvent[],
): Promise<void> {
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
      await watchSwept(tx, network, sweeps, at);
      // A sweep may be read before the transfer that it took, so the addresses are checked, too.
      await markPlacesToCheck(tx, network, [...new Set(sweeps.map(({ event }) => event.commitment))]);
      await markPositionsOutdated(tx, page, at);
      for (const paymentId of page) await settleOrLeaveOutdated(tx, deps, paymentId, at);
    });
    deps.world.crashPoint?.('deposit.swept');
  }
}

/**
 * Begins to watch addresses that were swept on a network where nobody watched them. The check of such an address finds the money that
 * the sweep took, so the lot of that money is the same before and after a search by an operator.
 */
async function watchSwept(tx: Tx, network: string, sweeps: readonly KnownEvent[], at: Date): Promise<void> {
  const places = new Map(
    sweeps.map(({ event: { commitment }, item }) => [
      commitment,
      { network, commitment, address: item.payer, paymentId: item.subject, mac: undefined },
    ]),
  );
  for (const { commitment } of await listPlacesOf(tx, network, [...places.keys()])) places.delete(commitment);
  for (const place of places.values()) await searchPlace(tx, place, at);
}

function carriedOut({ event, item }: KnownEvent): CarriedOutSweep {
  const { transactionHash: transaction, fields } = event;
  return { transaction, asset: fields.asset ?? '', address: item.payer, paymentId: item.subject };
}
