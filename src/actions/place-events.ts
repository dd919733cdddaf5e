import { placeEvents } from '../store/events/placing.ts';
import type { Lease } from '../store/plumbing/leases.ts';
import { type CommandDeps, commandOfOne } from './command.ts';

/** Keeps a round short, because its events are announced at its end. */
const MAX_BATCHES = 500;

export const PLACING_LEASE = 'events';

/** Gives positions to committed events, and announces them. Returns true if there are more. */
export async function placeOnce(deps: CommandDeps, lease: Lease): Promise<boolean> {
  const placed = await commandOfOne(deps, () => placeEvents(lease, MAX_BATCHES));
  if (placed > 0) deps.world.crashPoint?.('events.placed');
  return placed === MAX_BATCHES;
}
