import { PLACING_LEASE, type PlaceDeps, placeOnce } from '../actions/place-events.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';
import { createWake } from './wake.ts';

export interface PlacingDeps extends WorkerDeps, PlaceDeps {
  readonly feed: EventFeed;
}

/** The pause between two searches for events whose notification was lost because a node died or the connection broke. */
const POLL_MS = 1_000;
/**
 * The shortest time between two rounds, so that events committed in this time share a round. A round takes about 0.4 ms of PostgreSQL:
 * fifty rounds a second cost 2 % of a core, however many events there are.
 */
const GATHER_MS = 20;

/** Gives events their positions while this node holds the lease. The returned function stops this work on this node. */
export function startPlacing(deps: PlacingDeps): () => Promise<void> {
  const { timers } = deps.world;
  const wake = createWake(timers);
  const nap = wake.sleeper();
  return startLeading({ ...deps, holder: newHolder(deps) }, [
    {
      name: PLACING_LEASE,
      start: (lease, signal) => {
        deps.feed.onNotified(wake.all, signal);
        return async () => {
          if (await placeOnce(deps, lease)) return;
          await timers.sleep(GATHER_MS, signal);
          await nap(POLL_MS, signal);
        };
      },
    },
  ]);
}
