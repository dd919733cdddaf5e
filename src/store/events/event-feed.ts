import { createBatcher } from '../../runtime/batcher.ts';
import type { Log, World } from '../../runtime/world.ts';
import type { Database } from '../plumbing/database.ts';
import { EVENTS_CHANNEL } from './placing.ts';

/** The news of events that were placed, on every node, and the way to hurry the placer. */
export interface EventFeed {
  /**
   * Calls the listener with the ids of objects that changed, and with the names of the feeds they are in (`feedName`). New
   * payments are not named. Undefined: news may have been missed.
   */
  subscribe(listener: (objectIds: readonly string[] | undefined) => void): void;
  /** Calls `wake` when events wait for their positions, on this node or another, until the signal aborts. */
  answerRings(wake: () => void, signal: AbortSignal): void;
}

const RING_CHANNEL = 'till_outbox';

/**
 * Opens the feed. After a commit that appended events it rings for the placer: directly if that works on this node, else
 * by NOTIFY, many commits in one. NOTIFY inside the transactions would make all commits of the database wait for each
 * other. A ring that is lost costs time and no event: the placer also looks by itself.
 */
export async function openEventFeed(deps: { db: Database; world: World; log: Log }): Promise<EventFeed> {
  const listeners: ((objectIds: readonly string[] | undefined) => void)[] = [];
  let placer: (() => void) | undefined;
  const tell = (objectIds: readonly string[] | undefined) => {
    for (const listener of listeners) listener(objectIds);
  };
  const ringOthers = createBatcher<undefined, undefined>(deps.world.timers, {
    run: async (rings) => {
      await deps.db.sql`select pg_notify(${RING_CHANNEL}, '')`;
      return rings.map(() => undefined);
    },
    maxItems: 10_000,
    maxConcurrent: 1,
    isItemsFault: () => false,
  });
  deps.db.onEvents(() => {
    if (placer !== undefined) placer();
    else
      ringOthers(undefined).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'the placer could not be notified'),
      );
  });
  await deps.db.listen(RING_CHANNEL, { onMessage: () => placer?.(), onConnected: () => placer?.() });
  await deps.db.listen(EVENTS_CHANNEL, {
    onMessage: (text) => tell(text.split(',')),
    // Events placed while the connection was away went unheard.
    onConnected: () => tell(undefined),
  });
  return {
    subscribe: (listener) => void listeners.push(listener),
    answerRings(wake, signal) {
      placer = wake;
      signal.addEventListener(
        'abort',
        () => {
          if (placer === wake) placer = undefined;
        },
        { once: true },
      );
    },
  };
}
