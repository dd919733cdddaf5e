import { createBatcher } from '../batcher.ts';
import type { World } from '../deps.ts';
import { isFinal } from '../domain/payment.ts';
import type { Database } from './database.ts';
import { findPayments, type Payment } from './payments.ts';

/** Reads payments by id; reads asked for at the same time share one statement, and final payments stay in memory. */
export type PaymentReader = (id: string) => Promise<Payment | undefined>;

const MAX_IDS = 500;
const MAX_KEPT = 20_000;

export function createPaymentReader({ world, db }: { world: World; db: Database }): PaymentReader {
  const read = createBatcher<string, Payment | undefined>(world.timers, {
    run: (ids) => findPayments(db.sql, ids),
    maxItems: MAX_IDS,
    maxConcurrent: 2,
    isItemsFault: () => false,
  });
  const kept = new Map<string, Payment>();
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
