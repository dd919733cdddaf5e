import { ChainUnavailableError } from '../chains/chain.ts';
import { databaseFault } from '../store/plumbing/database.ts';
import { LeaseLostError } from './lease.ts';

/** True if the error concerns only this row, so that it can be set aside while the others continue. */
export function isItsOwnFault(error: unknown): boolean {
  if (error instanceof ChainUnavailableError || error instanceof LeaseLostError) return false;
  return databaseFault(error) === undefined;
}

/** Tells of the error, and puts the row to the back of its queue: rows that cannot progress must not fill it. */
type SetAside<Row> = (row: Row, error: unknown) => unknown;

/**
 * Does the work on each row apart, one after the other. An error of one row stops no other: every loop over rows of which each
 * has a transaction of its own runs here. An error that `setAside` throws is thrown when all rows had their turn. The outage of
 * a chain or of the database ends the loop at once.
 */
export async function eachApart<Row>(
  rows: Iterable<Row>,
  work: (row: Row) => Promise<unknown>,
  setAside: SetAside<Row>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const row of rows) await apart(row, work, setAside, failures);
  if (failures.length > 0) throw failures[0];
}

/** The same for all rows at once. */
export async function allApart<Row>(
  rows: readonly Row[],
  work: (row: Row) => Promise<unknown>,
  setAside: SetAside<Row>,
): Promise<void> {
  const failures: unknown[] = [];
  await Promise.all(rows.map((row) => apart(row, work, setAside, failures)));
  if (failures.length > 0) throw failures[0];
}

async function apart<Row>(
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
