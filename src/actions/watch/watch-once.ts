import { finalityMs, loneCeilingOf, strictestFinality } from '../../chains/finality.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import { LONE_DEPTH_FACTOR } from '../../domain/quorum.ts';
import { countUndetermined } from '../../store/chain/due-items.ts';
import { findPaymentsToJudge } from '../../store/chain/items-to-judge.ts';
import { decideEvents } from './decide-events.ts';
import { checkPlaces } from './deposits/check-places.ts';
import { readMovements } from './deposits/read-movements.ts';
import { settlePositions } from './deposits/settle-position.ts';
import { finishMinedSends } from './finish-mined-sends.ts';
import { followChain } from './follow-chain.ts';
import { judgeOutgoing } from './judge-outgoing.ts';
import { judgePayments } from './judge-payments.ts';
import { maintainFormerSends } from './maintain-former-sends.ts';
import { noticeCoin } from './notice-coin.ts';
import { timeToJudge } from './time-to-judge.ts';
import { mostPerRound, newRoundReads, type View, type WatchDeps, type Watcher } from './watcher.ts';

/** The interval of checks that depend on time alone while the chain stands still. */
const JUDGE_EVERY_MS = 2_000;
const CHECK_EVERY_MS = 30_000;
/**
 * The time until an item with an unknown outcome raises an alert. It begins when the item's deadline is final even for the largest
 * amounts.
 */
const UNDETERMINED_AFTER_MS = 10 * 60_000;

/**
 * One round of watching a network. Returns true if there is more to read. Each step leaves the database in a state from which the
 * next round, on this node or another, can continue: events are stored with the cursor, and stay undecided until they have been
 * applied. The payment's transition rules refuse a second application.
 */
export async function watchOnce(deps: WatchDeps, watcher: Watcher): Promise<boolean> {
  try {
    return await watch(deps, watcher);
  } finally {
    // Contradictions between endpoints raise the alert even if they make the round fail.
    await reportStanding(watcher);
  }
}

async function watch(deps: WatchDeps, watcher: Watcher): Promise<boolean> {
  watcher.memory.provedTimes.clear();
  const view = await followChain(deps, watcher);
  const events = await decideEvents(deps, watcher, view);
  const nowMs = deps.world.clock.nowMs();
  let hasMoreMovements = false;
  const isTime = view.hasNews || hasPassed(watcher.memory.judgedAtMs, nowMs, JUDGE_EVERY_MS);
  if (isTime && !events.hasMorePayments) {
    // After a failure here the next round does the work, whether or not the chain has moved.
    watcher.memory.judgedAtMs = 0;
    await noticeCoin(deps, watcher);
    hasMoreMovements = await readMovements(deps, watcher, view);
    await checkPlaces(deps, watcher, view);
    await settlePositions(deps, watcher);
    if (!hasMoreMovements) await judgeOverdue(deps, watcher, view);
    await settlePositions(deps, watcher);
    await finishMinedSends(deps, watcher, view);
    await maintainFormerSends(deps, watcher);
    watcher.memory.judgedAtMs = hasMoreMovements ? 0 : nowMs;
  }
  await raiseUndetermined(deps, watcher);
  return view.isBehind || events.hasMore || hasMoreMovements;
}

/**
 * Judges attempts whose deadline has passed. That requires that all blocks up to the final one were read, which is always true: the
 * final block is never above the cursor, even after days offline.
 */
async function judgeOverdue(deps: WatchDeps, watcher: Watcher, view: View): Promise<void> {
  watcher.memory.disputes.delete('endings');
  watcher.memory.reads = newRoundReads();
  const { payments: judged } = watcher.memory.turns;
  const ask = { finalAt: new Date(await timeToJudge(deps, watcher, view)), limit: mostPerRound(deps) };
  const now = new Date(deps.world.clock.nowMs());
  const payments = await findPaymentsToJudge(deps.db.sql, { ...ask, network: watcher.network, now, judged });
  // A page that is not full contains all payments that had no turn yet, so the turns begin again.
  if (payments.length < ask.limit) judged.clear();
  else for (const { id, merchantId } of payments) setLast(judged, merchantId, id);
  const subjects = payments.map(({ id }) => id);
  await judgePayments(deps, watcher, subjects);
  await judgeOutgoing(deps, watcher, ask);
  watcher.memory.reads = newRoundReads();
}

function setLast<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
}

/** Raises alerts while endpoints contradict each other, and while a single endpoint is trusted. */
async function reportStanding({ chain, network, depth, memory, disputed, alone }: Watcher): Promise<void> {
  const [dispute] = memory.disputes.values();
  await disputed.set(network, dispute && `The endpoints contradict each other, and payments wait. ${dispute}`);
  const message =
    `Only one endpoint can be asked. Payments up to ${loneCeilingOf(chain.network)} tokens count ` +
    `at ${depth * LONE_DEPTH_FACTOR} blocks; larger ones wait for a second endpoint.`;
  await alone.set(network, memory.heights.alone === undefined ? undefined : message);
}

/**
 * Raises an alert for items whose outcome is unknown for too long. Uses our own clock, because an endpoint that reports block times
 * that are too early must not silence the alert.
 */
async function raiseUndetermined(deps: WatchDeps, { chain, network, memory, undetermined }: Watcher): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  if (!hasPassed(memory.checkedAtMs, nowMs, CHECK_EVERY_MS)) return;
  memory.checkedAtMs = nowMs;
  const before = new Date(nowMs - UNDETERMINED_AFTER_MS - finalityMs(chain.network, strictestFinality(chain.network)));
  const count = await countUndetermined(deps.db.sql, { network, before });
  const message = `The outcome of ${count} items has been unknown for minutes.`;
  await undetermined.set(network, count === 0 ? undefined : message);
}
