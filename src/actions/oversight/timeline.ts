import type { Registry } from '../../chains/registry.ts';
import { attemptEntries } from './attempt-entries.ts';
import type { TimelineEntry } from './entry.ts';
import { eventEntries } from './event-entries.ts';
import { alertEntries, stopEntries, takeoverEntries } from './gateway-entries.ts';
import type { History } from './history.ts';
import { webhookEntries } from './webhook-entries.ts';

/** The sources of a timeline. Entries of the same moment appear in this order: causes before the events that they lead to. */
const SOURCES: readonly ((history: History, registry: Registry) => readonly TimelineEntry[])[] = [
  attemptEntries,
  stopEntries,
  eventEntries,
  webhookEntries,
  alertEntries,
  takeoverEntries,
];

/** Types of events that begin something. Such an event is listed before the attempt that the same database transaction stores. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  'payment.created',
  'payment.processing',
  'payout.begun',
  'refund.created',
]);

export interface Timeline {
  /** The entries, the oldest first. */
  readonly entries: readonly TimelineEntry[];
  /** The number of older entries that are left out. */
  readonly omitted: number;
}

/** The newest entries that are wanted, in the order of their times. */
export function timelineOf(
  history: History,
  registry: Registry,
  { limit, isWanted }: { limit: number; isWanted: (entry: TimelineEntry) => boolean },
): Timeline {
  const all = SOURCES.flatMap((source) => source(history, registry))
    .filter(isWanted)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || Number(isBeginning(b)) - Number(isBeginning(a)));
  const entries = all.slice(-limit);
  return { entries, omitted: all.length - entries.length + history.omitted };
}

function isBeginning({ what }: TimelineEntry): boolean {
  return BEGINNINGS.has(what);
}
