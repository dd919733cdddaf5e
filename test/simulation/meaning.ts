/** The tables that invariants are about. */
const WATCHED_TABLES = [
  'payments',
  'items',
  'events',
  'event_batches',
  'outgoing',
  'refunds',
  'relay_sends',
  'chain_cursors',
] as const;
export type WatchedTable = (typeof WATCHED_TABLES)[number];
const CHANGES = new RegExp(`\\b(?:insert into|update|delete from)\\s+(${WATCHED_TABLES.join('|')})\\b`, 'g');

const LOCKS_LEASE = /\bleases\b/;
const APPENDS_EVENTS = /\binsert into outbox\b/;

/** A statement, as it is sent, and its effects. */
export interface Meaning {
  readonly text: string;
  /** Its beginning, in one line. */
  readonly label: string;
  /** True if it ends a transaction or a part of one, and so releases locks. */
  readonly releases: boolean;
  readonly notifies: boolean;
  readonly changes: readonly WatchedTable[];
  readonly appendsEvents: boolean;
  readonly locksLease: boolean;
}

/** Reads what statements are and do. The same ones come again and again. */
export function createReader(alter: (text: string) => string): (text: string) => Meaning {
  const known = new Map<string, Meaning>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const text = alter(withoutTimeout(given));
    const found = {
      text,
      label: labelOf(given),
      releases: text === 'commit' || text.startsWith('rollback'),
      notifies: text.includes('pg_notify'),
      changes: [...text.matchAll(CHANGES)].map(([, table]) => table as WatchedTable),
      appendsEvents: APPENDS_EVENTS.test(text),
      locksLease: LOCKS_LEASE.test(text),
    };
    known.set(given, found);
    return found;
  };
}

/** A wait for a lock ends by the time of the simulation alone. */
function withoutTimeout(text: string): string {
  return text.replace("set_config('lock_timeout', $1,", "set_config('lock_timeout', left($1, 0) || '0',");
}

/** The beginning of a statement, in one line. */
function labelOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 90);
}
