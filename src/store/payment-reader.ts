import { createBatcher } from '../batcher.ts';
import type { World } from '../deps.ts';
import { isFinal } from '../domain/payment.ts';
import type { Database, Reader } from './database.ts';
import type { Payment } from './payments.ts';

/** Reads payments by id; reads asked for at the same time share one statement, and final payments stay in memory. */
export type PaymentReader<Row> = (id: string) => Promise<Row | undefined>;

const MAX_IDS = 500;
const MAX_KEPT = 20_000;

export function createPaymentReader<Row extends Pick<Payment, 'status'>>(
  { world, db }: { world: World; db: Database },
  find: (db: Reader, ids: readonly string[]) => Promise<(Row | undefined)[]>,
): PaymentReader<Row> {
  const read = createBatcher<string, Row | undefined>(world.timers, {
    run: (ids) => find(db.sql, ids),
    maxItems: MAX_IDS,
    maxConcurrent: 1,
    // A statement costs more than its rows.
    turns: 6,
    isItemsFault: () => false,
  });
  const kept = new Map<string, Row>();
  return async (id) => {
    const final = kept.get(id);
    if (final !== undefined) return final;
    const payment = await read(id);
    if (payment !== undefined && isFinal(payment.status)) {
      if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? '');
      kept.set(id, payment);
    }
    return payment;
  };
}
