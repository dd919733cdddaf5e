import { hasPassed } from '../../domain/has-passed.ts';
import { findWork } from '../../store/chain/due-items.ts';
import { checkBudgets } from './budgets.ts';
import { alarmSubject, checkBalance, checkStuck } from './check-relayer.ts';
import { dutyOf } from './duty.ts';
import { maintainSends } from './maintain-sends.ts';
import { readJournal } from './read-journal.ts';
import { IDLE, limitsOf, type RelayDeps, type Relayer, type Rest } from './relayer.ts';
import { sendDue } from './send-due.ts';

/**
 * The maximum number of transactions of a relayer in flight. Several slots are used at once, so that throughput does not depend on
 * the time between blocks.
 */
const MAX_IN_FLIGHT = 16;
/**
 * The maximum number of isolated transactions in flight: a quarter of all. Items of contract accounts, and of payers whose items have
 * failed, may fail in any way, so they are sent in transactions of their own, called isolated.
 */
const MAX_ISOLATED_IN_FLIGHT = 4;

/**
 * The chain's time counts as at most this much ahead of our clock. Otherwise an endpoint that reports a later time would make every
 * item seem too late to be sent.
 */
const MAX_CHAIN_AHEAD_MS = 60_000;

/**
 * One round of one relayer: maintains the transactions in flight, then sends the due items.
 *
 * The process may stop between any two lines. Before a send is committed to the database, nothing has been broadcast, and its items
 * are still due. Afterwards the bytes are stored under their slot, and the next holder of the lease broadcasts them even if they were
 * broadcast before: the same bytes twice are the same transaction. Nothing here decides about a payment; the watcher reads the
 * outcome from the chain.
 */
export async function relayOnce(deps: RelayDeps, relayer: Relayer): Promise<Rest> {
  const { chain, id } = relayer;
  const nowMs = deps.world.clock.nowMs();
  const duty = await dutyOf(deps, relayer);
  const { isCoinOnly } = duty;
  await checkBalance(deps, relayer, duty);
  await checkBudgets(deps, relayer);
  const limits = limitsOf(deps, id.network);
  const { hasOpen, hasDue } = await findWork(deps.db.sql, { ...id, isCoinOnly, now: new Date(nowMs), limits });
  // While no item waits, the alert about the price is cleared.
  if (!hasDue) await relayer.alarms.price.set(alarmSubject(id), undefined);
  if (!hasOpen) {
    deps.meters.inFlight(id, 0);
    await checkStuck(deps, relayer, []);
  }
  if (!hasDue && !(hasOpen && isTimeToCheck(relayer, nowMs))) return IDLE;
  relayer.memory.checkedAtMs = nowMs;
  const head = await chain.reader.head();
  const journal = await readJournal(deps, relayer, head);
  await checkStuck(deps, relayer, journal.open);
  await maintainSends(deps, relayer, journal);
  const inFlight = journal.nextSlot - journal.usedSlots;
  deps.meters.inFlight(id, inFlight);
  const room = MAX_IN_FLIGHT - inFlight;
  if (room <= 0 || !journal.mayTake) return { ms: IDLE.ms, canBeWoken: false };
  const isolatedInFlight = journal.open.filter(({ lane }) => lane === 'isolated').length;
  return sendDue(deps, relayer, {
    duty,
    nextSlot: journal.nextSlot,
    inFlight,
    places: { room, isolatedRoom: MAX_ISOLATED_IN_FLIGHT - isolatedInFlight, isIsolatedUnderWay: isolatedInFlight > 0 },
    chainTimeMs: Math.min(head.timestampS * 1000, nowMs + MAX_CHAIN_AHEAD_MS),
  });
}

/**
 * True if it is time to ask the chain about open transactions while nothing is due. That is a few times per block, however often
 * other payments wake the relayer.
 */
function isTimeToCheck({ chain, memory }: Relayer, nowMs: number): boolean {
  const blockMs = chain.network.finality?.blockTimeMs ?? 0;
  return hasPassed(memory.checkedAtMs, nowMs, Math.min(Math.max(blockMs / 4, IDLE.ms), 2_000));
}
