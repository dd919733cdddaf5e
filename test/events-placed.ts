import { findOldestUnplaced } from '../src/store/events/placing.ts';
import type { Database } from '../src/store/plumbing/database.ts';
import { until } from './until.ts';

/** Waits until every committed event has a position. `GET /v1/events` shows an event only then, some milliseconds after its commit. */
export function eventsPlaced({ db }: { readonly db: Database }): Promise<void> {
  return until('all events are placed', async () => (await findOldestUnplaced(db.sql)) === undefined);
}
