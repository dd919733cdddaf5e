import { placeEvents } from '../store/events/placing.ts';
import type { Lease } from '../store/plumbing/leases.ts';
import { type CommandDeps, commandOfOne } from './command.ts';

/** The most batches of events that one round places. Small, because the events of a round are announced at its end. */
const MAX_BATCHES = 500;

export const PLACING_LEASE = 'events';

export interface PlaceDeps extends CommandDeps {
  /** True if lists may be read from a replica. Then the position of the write-ahead log is stored with each batch of events. */
  readonly notesWal?: boolean;
}

/** Gives positions to committed events, and announces them. Returns true if there are more. */
export async function placeOnce(deps: PlaceDeps, lease: Lease): Promise<boolean> {
  const { notesWal } = deps;
  const placed = await commandOfOne(deps, () => placeEvents(lease, { limit: MAX_BATCHES, notesWal }));
  if (placed > 0) deps.world.crashPoint?.('events.placed');
  return placed === MAX_BATCHES;
}
