import { isFinal } from '../../domain/payment.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Database, Reader } from '../plumbing/database.ts';
import type { Payment } from './payments.ts';

/** A function that reads a payment by its id. Concurrent reads share one statement, and final payments are cached. */
export type PaymentReader<Row> = (id: string) => Promise<Row | undefined>;

const MAX_IDS = 500;
const MAX_CACHED = 20_000;

export function createPaymentReader<Row extends Pick<Payment, 'status'>>(
  { world, db, feed }: { world: World; db: Database; feed: Pick<EventFeed, 'subscribe'> },
  find: (db: Reader, ids: readonly string[]) => Promise<(Row | undefined)[]>,
): PaymentReader<Row> {
  const kept = new Map<string, Row>();
  /** The payments that were announced as changed since the current read began. Undefined if announcements may have been missed. */
  let changed: Set<string> | undefined = new Set();
  const keep = (id: string, row: Row) => {
    if (kept.size >= MAX_CACHED) kept.delete(kept.keys().next().value ?? '');
    kept.set(id, row);
  };
  // Announced payments leave the cache, because even a final payment can change: a deep reorg may replace the transaction that paid it.
  feed.subscribe((ids) => {
    if (ids === undefined) {
      kept.clear();
      changed = undefined;
      return;
    }
    for (const id of ids) {
      kept.delete(id);
      changed?.add(id);
    }
  });
  const read = createBatcher<string, Row | undefined>(world, {
    run: async (ids) => {
      changed = new Set();
      const rows = await find(db.sql, ids);
      for (const [index, row] of rows.entries()) {
        const id = ids[index] ?? '';
        // The row may be outdated if the payment was announced as changed during the read.
        const isCurrent = changed !== undefined && !changed.has(id);
        if (row !== undefined && isFinal(row.status) && isCurrent) keep(id, row);
      }
      return rows;
    },
    maxItems: MAX_IDS,
    // Only one read runs at a time, because `changed` belongs to the current read.
    maxConcurrent: 1,
    // A statement costs more than its rows, so requested ids are collected for some turns of the event loop.
    turns: 4,
    isItemsFault: () => false,
  });
  return (id) => {
    const final = kept.get(id);
    return final === undefined ? read(id) : Promise.resolve(final);
  };
}
