import { isFinal } from '../../domain/payment.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import type { Database, Reader } from '../plumbing/database.ts';
import type { Payment } from './payments.ts';

/** Reads payments by id; reads asked for at the same time share one statement, and final payments stay in memory. */
export type PaymentReader<Row> = (id: string) => Promise<Row | undefined>;

const MAX_IDS = 500;
const MAX_KEPT = 20_000;

export function createPaymentReader<Row extends Pick<Payment, 'status'>>(
  { world, db }: { world: World; db: Database },
  find: (db: Reader, ids: readonly string[]) => Promise<(Row | undefined)[]>,
): PaymentReader<Row> {
  const kept = new Map<string, Row>();
  const keep = (id: string, row: Row) => {
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? '');
    kept.set(id, row);
  };
  const read = createBatcher<string, Row | undefined>(world.timers, {
    run: async (ids) => {
      const rows = await find(db.sql, ids);
      for (const [index, row] of rows.entries())
        if (row !== undefined && isFinal(row.status)) keep(ids[index] ?? '', row);
      return rows;
    },
    maxItems: MAX_IDS,
    maxConcurrent: 1,
    // A statement costs more than its rows.
    turns: 4,
    isItemsFault: () => false,
  });
  return (id) => {
    const final = kept.get(id);
    return final === undefined ? read(id) : Promise.resolve(final);
  };
}
