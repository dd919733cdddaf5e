import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { Asked } from '../../../domain/doctor/facts.ts';
import type { Timers } from '../../../runtime/world.ts';
import { sqlState } from '../../../store/plumbing/session.ts';

/** Resolves with the answer, or with the reason why there is none, at the latest when the time is over. Never rejects. */
export async function askWithin<T>(timers: Timers, withinMs: number, work: () => Promise<T>): Promise<Asked<T>> {
  const late = Promise.withResolvers<Asked<T>>();
  const cancel = timers.after(withinMs, () => late.resolve({ unknown: `no answer within ${withinMs / 1_000} s` }));
  const answer = work().then(
    (known): Asked<T> => ({ known }),
    (error: unknown): Asked<T> => ({ unknown: reasonOf(error) }),
  );
  return Promise.race([answer, late.promise]).finally(cancel);
}

/** The PostgreSQL error codes for missing tables or columns. The check of the schema reports these errors. */
const OTHER_SCHEMA = /^42(P01|703)$/;

/** The message of an error, in one line and without a full stop. */
export function reasonOf(error: unknown): string {
  if (OTHER_SCHEMA.test(sqlState(error) ?? '')) return 'the database does not have the schema of this version';
  const { message, code } = error as NodeJS.ErrnoException;
  const network = error instanceof ChainUnavailableError ? `${error.network}: ` : '';
  // If several addresses refuse a connection, the error has a code and an empty message.
  const text = (message || code || String(error)).replace(network, '');
  return text.replace(/\s+/g, ' ').replace(/\.+$/, '').slice(0, 300);
}

/**
 * The facts with secrets struck out of all reasons. Only reasons can contain secrets, because other programs have written them. Our own
 * texts would be garbled if a password is a common word such as "till".
 */
export function strikeReasons<T>(facts: T, strike: (text: string) => string): T {
  if (Array.isArray(facts)) return facts.map((each) => strikeReasons(each, strike)) as T;
  if (typeof facts !== 'object' || facts === null || facts instanceof Date) return facts;
  const entries = Object.entries(facts).map(([name, value]) => {
    const isReason = (name === 'unknown' || name === 'outage') && typeof value === 'string';
    return [name, isReason ? strike(value) : strikeReasons(value, strike)];
  });
  return Object.fromEntries(entries) as T;
}
