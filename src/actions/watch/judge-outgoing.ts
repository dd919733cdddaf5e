import { findOutgoingToJudge, type OutgoingItem } from '../../store/chain/items-to-judge.ts';
import { allIsolated } from '../each-isolated.ts';
import { lapseOutgoing } from '../outgoing/settle/lapse-outgoing.ts';
import { type FinalView, fateOfItem, finalViews } from './judge-payments.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/**
 * Ends items of payouts, refunds and returns if the chain proves that they can never be carried out. Without that proof no item ends:
 * while an item is still valid, a new attempt could pay a second time.
 */
export async function judgeOutgoing(
  deps: WatchDeps,
  watcher: Watcher,
  { finalAt, limit }: { finalAt: Date; limit: number },
): Promise<void> {
  const { network, memory } = watcher;
  const items = await findOutgoingToJudge(deps.db.sql, { network, finalAt, after: memory.turns.outgoing, limit });
  if (items.length === 0) return;
  memory.turns.outgoing = items.at(-1)?.key ?? '';
  const view = (await finalViews(deps, watcher, items)).get(network);
  await allIsolated(
    items,
    (item) => judge(deps, watcher, item, view),
    (item, err) => deps.log.error({ subject: item.subject, err }, 'an outgoing item cannot be judged'),
  );
}

async function judge(deps: WatchDeps, watcher: Watcher, item: OutgoingItem, view: FinalView | undefined) {
  const fate = await fateOfItem(deps, watcher, item, view);
  if (fate.is !== 'over') return;
  // An authorization that was used without an event of the Collector was cancelled by a holder of the account's key.
  await lapseOutgoing(deps, { item, lease: watcher.lease, isCancelled: fate.reason === 'used', refusal: item.refusal });
}
