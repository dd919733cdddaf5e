import { hasPassed } from '../../domain/has-passed.ts';
import { countUndetermined, findPaymentsToJudge } from '../../store/chain/due-items.ts';
import { decideEvents } from './decide-events.ts';
import { finishMinedSends } from './finish-mined-sends.ts';
import { followChain } from './follow-chain.ts';
import { judgeOutgoing } from './judge-outgoing.ts';
import { judgePayments } from './judge-payments.ts';
import { noticeCoin } from './notice-coin.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

/** What depends on time alone is looked at this often while the chain stands still. */
const JUDGE_EVERY_MS = 2_000;
const MAX_JUDGED = 500;
const CHECK_EVERY_MS = 30_000;
/** What should have been decided and is not for this long, somebody should look at. */
const UNDETERMINED_AFTER_MS = 10 * 60_000;

/**
 * One round of watching a network; says whether there is more to read. Each step leaves the database in a state from
 * which the next round, on this node or another, goes on: events are stored with the cursor, and stay undecided until
 * what follows from them is done. Doing it twice is refused by the payment's own rules.
 */
export async function watchOnce(deps: WatchDeps, watcher: Watcher): Promise<boolean> {
  const view = await followChain(deps, watcher);
  const hasMoreEvents = await decideEvents(deps, watcher, view);
  const nowMs = deps.world.clock.nowMs();
  const isTime = view.hasNews || hasPassed(watcher.memory.judgedAtMs, nowMs, JUDGE_EVERY_MS);
  if (isTime && !hasMoreEvents) {
    // A round that fails here is made up for by the next one, whether or not there is news then.
    watcher.memory.judgedAtMs = 0;
    await noticeCoin(deps, watcher);
    await judgeOverdue(deps, watcher, view);
    await finishMinedSends(deps, watcher, view);
    watcher.memory.judgedAtMs = nowMs;
  }
  await raiseUndetermined(deps, watcher, view);
  return view.isBehind || hasMoreEvents;
}

/** Only on what was read without a gap: the final block is never ahead of the cursor, however long the node was away. */
async function judgeOverdue(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  const subjects = await findPaymentsToJudge(deps.db.sql, {
    network: watcher.network,
    finalAt: new Date(view.finalAtMs),
    now: new Date(deps.world.clock.nowMs()),
    limit: MAX_JUDGED,
  });
  await judgePayments(deps, watcher, subjects);
  await judgeOutgoing(deps, watcher, { finalAt: new Date(view.finalAtMs), limit: MAX_JUDGED });
}

async function raiseUndetermined(
  deps: WatchDeps,
  { network, memory, undetermined }: Watcher,
  view: View,
): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  if (!hasPassed(memory.checkedAtMs, nowMs, CHECK_EVERY_MS)) return;
  memory.checkedAtMs = nowMs;
  const before = new Date(Math.min(nowMs, view.finalAtMs) - UNDETERMINED_AFTER_MS);
  const count = await countUndetermined(deps.db.sql, { network, before });
  const message = `What became of ${count} items could not be found out for minutes.`;
  await undetermined.set(network, count === 0 ? undefined : message);
}
