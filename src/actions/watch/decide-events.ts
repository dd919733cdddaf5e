import {
  type DecidedEvent,
  deleteEvents,
  type EventTurns,
  findUndecidedEvents,
  markDecided,
  type StoredEvent,
} from '../../store/chain/chain-events.ts';
import { releaseItems } from '../../store/chain/due-items.ts';
import { findItemsOfEvents, type StoredItem } from '../../store/chain/items.ts';
import { slotsOf } from '../../store/chain/sends.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { raiseAlert } from '../alerts.ts';
import { isItsOwnFault } from '../each-isolated.ts';
import { commandOfLeader } from '../lease.ts';
import { settleOutgoing } from '../outgoing/settle/settle-outgoing.ts';
import { NO_TRANSFER } from '../own-transfer.ts';
import { settleSwept } from './deposits/settle-swept.ts';
import { judgePayments } from './judge-payments.ts';
import { noticeRestore } from './notice-restore.ts';
import { type KnownEvent, proveEvents } from './prove-events.ts';
import { settlePaid } from './settle-paid.ts';
import { slotOnChain } from './slot-on-chain.ts';
import { mostPerRound, type View, type WatchDeps, type Watcher } from './watcher.ts';

/** The number of types of events. Each type gets an equal part of a round. */
const TYPES = 3;

/** The events that a round leaves to the next one. */
export interface LeftEvents {
  readonly hasMore: boolean;
  /** True if the undecided events may include payments of ours. Strangers can cause any number of other events. */
  readonly hasMorePayments: boolean;
}

/**
 * Applies the Collector's events of final blocks. An event counts only if its commitment is ours, because anybody can make a
 * contract emit a similar event.
 */
export async function decideEvents(deps: WatchDeps, watcher: Watcher, view: View): Promise<LeftEvents> {
  const { network, memory } = watcher;
  const limit = 2 * mostPerRound(deps);
  const ask = { network, upTo: view.finalNumber, turns: memory.turns.events, limit };
  const found = await findUndecidedEvents(deps.db.sql, ask);
  memory.turns.events = turnsAfter(memory.turns.events, found, limit);
  if (found.length === 0) {
    memory.disputes.delete('events');
    memory.disputes.delete('outgoing');
    memory.askAgainAtMs.clear();
    return { hasMore: false, hasMorePayments: false };
  }
  const items = await itemsOf(deps, network, found);
  const known = found.flatMap((event) => {
    const item = items.get(event.commitment);
    return item === undefined ? [] : [{ event, item }];
  });
  const strange = found.filter(({ commitment }) => !items.has(commitment));
  const { proved, refuted } = await proveEvents(deps, watcher, view, known);
  if (proved.length > 0) deps.world.crashPoint?.('watch.proved');
  await forget(deps, watcher, refuted);
  const paid = await decidePaid(deps, watcher, proved);
  await settleSwept(deps, watcher, proved);
  // Paid events are marked as decided before all other events, of which strangers can cause any number.
  await mark(
    deps,
    watcher,
    paid.filter(({ isDecided }) => !isDecided),
  );
  if (paid.length > 0) deps.world.crashPoint?.('watch.decided');
  // Unknown events are checked before refused ones, because they can prove that the database was restored from a backup. In a
  // restored database no payment expires by the clock, and a refused event can make a payment expire.
  const decided = await decideStrange(deps, watcher, strange);
  decided.push(...(await decideRefused(deps, watcher, proved)));
  await mark(deps, watcher, decided);
  return {
    hasMore: found.length === limit && paid.length + decided.length > 0,
    // If events of our items fill a round, a third of it is for paid events. A round with fewer paid events contained all of them.
    hasMorePayments: known.length === limit && paid.length * TYPES >= limit,
  };
}

function turnsAfter(turns: EventTurns, found: readonly StoredEvent[], limit: number): EventTurns {
  if (found.length < limit) return new Map();
  const last = found.map(({ type, blockNumber, logIndex }) => [type, { blockNumber, logIndex }] as const);
  return new Map([...turns, ...last]);
}

/**
 * Marks events as decided. After a crash before this statement the next round applies the same events again, and the payment's
 * transition rules refuse the second application.
 */
async function mark(deps: WatchDeps, { network, lease }: Watcher, decided: readonly DecidedEvent[]): Promise<void> {
  if (decided.length === 0) return;
  await commandOfLeader(deps, lease, (tx, at) => markDecided(tx, network, decided, at));
  deps.world.crashPoint?.('watch.decided');
}

async function decideStrange(
  deps: WatchDeps,
  watcher: Watcher,
  strange: readonly StoredEvent[],
): Promise<DecidedEvent[]> {
  const { open, unproved } = await noticeRestore(deps, watcher, strange);
  return strange.flatMap((event) => {
    if (open.has(event)) return [];
    const problem = unproved.has(event) ? NO_TRANSFER : null;
    return [{ ...unknown(deps, watcher, event), problem }];
  });
}

/** Deletes events that an endpoint forged. Their items continue as if there were no event. */
async function forget(deps: WatchDeps, { network, lease }: Watcher, refuted: readonly KnownEvent[]): Promise<void> {
  if (refuted.length === 0) return;
  const events = refuted.map(({ event }) => event);
  await commandOfLeader(deps, lease, async (tx) => {
    await deleteEvents(tx, network, events);
    await releaseItems(
      tx,
      refuted.map(({ item }) => item.key),
    );
  });
  for (const { transactionHash: transaction, blockNumber: block, commitment } of events) {
    deps.log.error({ network, transaction, block, commitment }, 'a forged event: the endpoints do not show it');
  }
}

async function itemsOf(
  deps: WatchDeps,
  network: string,
  events: readonly StoredEvent[],
): Promise<Map<string, StoredItem>> {
  if (events.length === 0) return new Map();
  const commitments = [...new Set(events.map(({ commitment }) => commitment))];
  const rows = await findItemsOfEvents(deps.db.sql, network, commitments);
  return new Map(rows.map((item) => [item.commitment, item]));
}

function unknown(deps: WatchDeps, { network }: Watcher, event: StoredEvent): DecidedEvent {
  deps.meters.event(network, 'unknown');
  return done(event);
}

interface AppliedEvent extends DecidedEvent {
  /** True if the database transaction that applied the event has also marked it as decided. */
  readonly isDecided: boolean;
}

async function decidePaid(deps: WatchDeps, watcher: Watcher, proved: readonly KnownEvent[]): Promise<AppliedEvent[]> {
  const ripe = proved.filter(({ event }) => event.type === 'paid');
  if (ripe.length === 0) return [];
  const paymentIds = ripe.flatMap(({ item }) => (item.purpose === 'payment' ? [item.subject] : []));
  // Slots and payments are read before the first event is applied. The events must keep their order, because the first event of a
  // payment is the one that pays it.
  const [slots, payments] = await Promise.all([
    readSlots(deps, watcher, [...new Set(ripe.map(({ event }) => event.transactionHash))]),
    findPayments(deps.db.sql, [...new Set(paymentIds)]),
  ]);
  const statuses = new Map(payments.flatMap((payment) => (payment ? [[payment.id, payment.status]] : [])));
  return Promise.all(
    ripe.map(({ event, item }) =>
      unlessAtFault(deps, watcher, event, () => {
        if (item.purpose !== 'payment') return settleOutgoing(deps, { event, item, lease: watcher.lease });
        return settlePaid(deps, {
          network: watcher.network,
          lease: watcher.lease,
          event,
          item,
          slot: slots.get(event.transactionHash) ?? null,
          status: statuses.get(item.subject),
        });
      }),
    ),
  );
}

/**
 * The slots of mined transactions, by hash. The slots of our own transactions are stored. Those of strangers and of payers of native
 * coin are read from the chain.
 */
async function readSlots(
  deps: WatchDeps,
  { chain }: Watcher,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const own = await slotsOf(deps.db.sql, [...hashes]);
  const others = hashes.filter((hash) => !own.has(hash));
  const found = await Promise.all(others.map(async (hash) => [hash, await slotOnChain(chain.reader, hash)] as const));
  return new Map<string, number | null>([...own, ...found]);
}

/**
 * Decides refused events. A refusal does not end its item: once the transaction is final, relayers send the item again until its
 * deadline. The exception is an item whose authorization was used elsewhere: it ends if the chain confirms that use.
 */
async function decideRefused(
  deps: WatchDeps,
  watcher: Watcher,
  proved: readonly KnownEvent[],
): Promise<DecidedEvent[]> {
  const refused = proved.filter(({ event }) => event.type === 'refused');
  const used = refused.flatMap(({ event: { fields }, item }) =>
    item.purpose === 'payment' && fields.reason === 'used' ? [item.subject] : [],
  );
  await judgePayments(deps, watcher, [...new Set(used)]);
  return refused.map(({ event }) => {
    deps.meters.event(watcher.network, 'refused');
    return done(event);
  });
}

/** Applies one event with `work`. If the event itself causes an error, it is set aside with an alert, and the other events continue. */
async function unlessAtFault(
  deps: WatchDeps,
  { network }: Watcher,
  event: StoredEvent,
  work: () => Promise<{ readonly problem: string | null; readonly isDecided?: boolean }>,
): Promise<AppliedEvent> {
  const { problem, isDecided = false } = await work().catch((error: unknown) => {
    if (!isItsOwnFault(error)) throw error;
    deps.log.error({ network, transaction: event.transactionHash, err: error }, 'an event could not be applied');
    return { problem: 'failed', isDecided: false };
  });
  deps.meters.event(network, problem === null ? 'paid' : 'set_aside');
  if (problem !== null) {
    const message = `An event of the Collector was set aside: ${problem}.`;
    await raiseAlert(deps, {
      name: 'event_set_aside',
      subject: `${network}:${event.transactionHash}:${event.logIndex}`,
      message,
    });
  }
  return { ...done(event), problem, isDecided };
}

function done({ transactionHash, logIndex }: StoredEvent): DecidedEvent {
  return { transactionHash, logIndex, problem: null };
}
