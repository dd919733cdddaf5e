import { PLACING_LEASE, placeOnce } from '../actions/place-events.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';
import { createWake } from './wake.ts';

export interface PlacingDeps extends WorkerDeps {
  readonly feed: EventFeed;
}

/** Finds events whose notification was lost: their node died, or the listening connection was broken. */
const LOOK_MS = 1_000;
/**
 * The least time between two rounds: events committed meanwhile share the next one. A round takes about 0.4 ms of
 * PostgreSQL, so that fifty a second cost 2 % of a core, however many events there are.
 */
const GATHER_MS = 20;

/** Gives events their positions, on whichever node leads; the returned function stops it on this node. */
export function startPlacing(deps: PlacingDeps): () => Promise<void> {
  const { timers } = deps.world;
  const wake = createWake(timers);
  const nap = wake.sleeper();
  return startLeading({ ...deps, holder: newHolder(deps.world) }, [
    {
      name: PLACING_LEASE,
      start: (lease, signal) => {
        deps.feed.answerRings(wake.all, signal);
        return async () => {
          if (await placeOnce(deps, lease)) return;
          await timers.sleep(GATHER_MS, signal);
          await nap(LOOK_MS, signal);
        };
      },
    },
  ]);
}
