import { ChainUnavailableError } from '../chains/chain-errors.ts';
import { databaseFault } from '../store/plumbing/database.ts';
import { LeaseLostError } from './lease.ts';

/** True if the error concerns only this row, so that the row can be set aside while the others continue. */
export function isItsOwnFault(error: unknown): boolean {
  if (error instanceof ChainUnavailableError || error instanceof LeaseLostError) return false;
  return databaseFault(error) === undefined;
}

/** Reports the error, and moves the row to the back of its queue, so that rows that cannot progress do not fill the queue. */
type SetAside<Row> = (row: Row, error: unknown) => unknown;

/**
 * Works on each row in isolation, one after the other: an error of one row does not stop the others. It is for loops in which every row
 * has its own database transaction. An error thrown by `setAside` is thrown again after the last row. An outage of the chain or of the
 * database ends the loop at once.
 */
export async function eachIsolated<Row>(
  rows: Iterable<Row>,
  work: (row: Row) => Promise<unknown>,
  setAside: SetAside<Row>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const row of rows) await workIsolated(row, work, setAside, failures);
  if (failures.length > 0) throw failures[0];
}

/** `eachIsolated`, but with all rows at the same time instead of one after the other. */
export async function allIsolated<Row>(
  rows: readonly Row[],
  work: (row: Row) => Promise<unknown>,
  setAside: SetAside<Row>,
): Promise<void> {
  const failures: unknown[] = [];
  await Promise.all(rows.map((row) => workIsolated(row, work, setAside, failures)));
  if (failures.length > 0) throw failures[0];
}

async function workIsolated<Row>(
  row: Row,
  work: (row: Row) => Promise<unknown>,
  setAside: SetAside<Row>,
  failures: unknown[],
): Promise<void> {
  try {
    await work(row);
  } catch (error) {
    if (!isItsOwnFault(error)) throw error;
    try {
      await setAside(row, error);
    } catch (failure) {
      if (!isItsOwnFault(failure)) throw failure;
      failures.push(failure);
    }
  }
}
