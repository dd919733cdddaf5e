import type { ChainEvent, UnreadableLog } from '../../chains/chain-reader.ts';
import type { StoredEvent } from '../../store/chain/chain-events.ts';
import { clearAlert, raiseAlert } from '../alerts.ts';
import { isItsOwnFault } from '../each-isolated.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

/**
 * Reads the Collector's events of a range of blocks. An unreadable log is set aside with an alert. A block that makes reading fail is
 * found by bisection and set aside, too, so that the other blocks continue. A payment in such a block is not lost: its event is also
 * in the receipt of our own transaction, and no item ends as unpaid while the chain reports its authorization as used.
 */
export async function readEvents(
  deps: WatchDeps,
  watcher: Watcher,
  from: number,
  to: number,
): Promise<readonly ChainEvent[]> {
  const { chain, network } = watcher;
  try {
    const unreadable: UnreadableLog[] = [];
    const events = await chain.reader.events(from, to, (log) => unreadable.push(log));
    await reportUnreadable(deps, watcher, from, unreadable);
    await clearRead(deps, watcher, events);
    return events;
  } catch (error) {
    if (!isItsOwnFault(error)) throw error;
    if (from < to) {
      const middle = Math.floor((from + to) / 2);
      const left = await readEvents(deps, watcher, from, middle);
      return [...left, ...(await readEvents(deps, watcher, middle + 1, to))];
    }
    deps.log.error({ network, block: from, err: error }, 'the events of a block cannot be read');
    const message = 'The events of this block cannot be read; it was set aside.';
    await raiseAlert(deps, { name: 'block_set_aside', subject: `${network}:${from}`, message });
    return [];
  }
}

/** Reports each unreadable log once while this node watches, and at most `MAX_UNREAD` logs. */
async function reportUnreadable(
  deps: WatchDeps,
  { network, memory }: Watcher,
  from: number,
  unreadable: readonly UnreadableLog[],
): Promise<void> {
  for (const { place, reason } of unreadable) {
    const subject =
      place === undefined ? `${network}:${from}` : subjectOf(network, place.transactionHash, place.logIndex);
    if (memory.unread.has(subject) || memory.unread.size >= MAX_UNREAD) continue;
    memory.unread.add(subject);
    deps.log.error({ network, ...place, reason }, 'a log of the Collector cannot be read');
    const where = place === undefined ? `of block ${from} or a later one` : `of block ${place.block}`;
    const message = `A log ${where} cannot be read and was set aside: ${reason}.`;
    await raiseAlert(deps, { name: 'event_set_aside', subject, message });
  }
}

/** Clears the alert of a log that an endpoint had garbled, and that can be read now. */
async function clearRead(deps: WatchDeps, { network, memory }: Watcher, events: readonly ChainEvent[]): Promise<void> {
  if (memory.unread.size === 0) return;
  for (const { transactionHash, logIndex } of events) {
    const subject = subjectOf(network, transactionHash, logIndex);
    if (memory.unread.delete(subject)) await clearAlert(deps, { name: 'event_set_aside', subject });
  }
}

/**
 * Clears the alerts of events that were found in a receipt. Their logs stay in `unread`, because an endpoint may list them garbled
 * again, and they must not be reported a second time.
 */
export async function clearFound(deps: WatchDeps, network: string, events: readonly ChainEvent[]): Promise<void> {
  for (const { transactionHash, logIndex } of events) {
    await clearAlert(deps, { name: 'event_set_aside', subject: subjectOf(network, transactionHash, logIndex) });
  }
}

const MAX_UNREAD = 100;

function subjectOf(network: string, transactionHash: string, logIndex: number): string {
  return `${network}:${transactionHash}:${logIndex}`;
}

/** The 16 bytes of an id, or of its encryption, in hex. */
const SUBJECT_DIGITS = 32;

export function storedEvent(event: ChainEvent): StoredEvent {
  const { block, transactionHash, logIndex, commitment } = event;
  const fields: Record<string, string> =
    event.type === 'refused'
      ? { reason: event.reason }
      : {
          // Events are searched by the first half of a seal, because the second half depends on all terms.
          subject: event.subject.slice(0, SUBJECT_DIGITS),
          ...(event.type === 'paid' && { payer: event.payer }),
          asset: event.asset,
          amount: event.amount.toString(),
          fee: event.fee.toString(),
          recipient: event.recipient,
        };
  return {
    transactionHash,
    logIndex,
    blockNumber: block.number,
    blockHash: block.hash,
    commitment,
    type: event.type,
    fields,
  };
}
