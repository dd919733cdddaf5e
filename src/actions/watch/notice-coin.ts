import { differences } from '../../domain/evidence.ts';
import { findArrivingCoin } from '../../store/chain/chain-events.ts';
import { findItemsOfEvents } from '../../store/chain/items.ts';
import { confirmedByCoin } from '../paying/confirmed-by-coin.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const MAX_EVENTS = 500;

/**
 * Moves payments to `processing` as soon as a block contains the payer's native coin. From then on nobody else should pay, and the
 * merchant should not cancel, even if the wallet has not called `confirm`. The outcome is decided at final depth. If a reorg removes
 * the block, the payment waits until the deadline of the coin action.
 */
export async function noticeCoin(deps: WatchDeps, { network, lease }: Watcher): Promise<void> {
  const events = await findArrivingCoin(deps.db.sql, { network, limit: MAX_EVENTS });
  if (events.length === 0) return;
  const commitments = events.map(({ commitment }) => commitment);
  const found = await findItemsOfEvents(deps.db.sql, network, commitments);
  const items = new Map(found.map((item) => [item.commitment, item]));
  await Promise.all(
    events.map(async ({ commitment, fields, transactionHash, blockNumber, blockHash }) => {
      const item = items.get(commitment);
      // An event that differs from its item is set aside at final depth.
      if (item === undefined || differences(fields, item).length > 0) return;
      const evidence = { network, commitment, transaction: transactionHash, block: blockNumber, blockHash };
      const move = { paymentId: item.subject, event: confirmedByCoin(item), actor: 'watcher', evidence, lease };
      await deps.movePayment(move);
    }),
  );
}
