import { createBatcher } from '../../runtime/batcher.ts';
import type { Log, World } from '../../runtime/world.ts';
import type { Database } from '../plumbing/database.ts';
import { EVENTS_CHANNEL } from './placing.ts';

/** Announces events that have positions to the listeners of this node, and wakes the placer when new events wait for positions. */
export interface EventFeed {
  /**
   * Calls the listener with the ids of changed objects, and with the names of the feeds that have new events (`feedName`). The ids of new
   * payments are left out. The argument is undefined if announcements may have been missed.
   */
  subscribe(listener: (objectIds: readonly string[] | undefined) => void): void;
  /** Calls `wake` when events of this or another node wait for their positions. The calls end when the signal aborts. */
  onNotified(wake: () => void, signal: AbortSignal): void;
}

const OUTBOX_CHANNEL = 'till_outbox';

/**
 * Opens the feed. After a commit that appended events, it wakes the placer. If the placer runs on this node, it is called directly.
 * Otherwise one NOTIFY is sent for many commits. A NOTIFY inside the database transactions would make all commits of the database wait for
 * each other. A lost NOTIFY only costs time, because the placer also checks at intervals.
 */
export async function openEventFeed(deps: { db: Database; world: World; log: Log }): Promise<EventFeed> {
  const listeners: ((objectIds: readonly string[] | undefined) => void)[] = [];
  let placer: (() => void) | undefined;
  const notify = (objectIds: readonly string[] | undefined) => {
    for (const listener of listeners) listener(objectIds);
  };
  const notifyOthers = createBatcher<undefined, undefined>(deps.world, {
    run: async (requests) => {
      await deps.db.sql`select pg_notify(${OUTBOX_CHANNEL}, '')`;
      return requests.map(() => undefined);
    },
    maxItems: 10_000,
    maxConcurrent: 1,
    isItemsFault: () => false,
  });
  deps.db.onEvents(() => {
    if (placer !== undefined) placer();
    else
      notifyOthers(undefined).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'the placer could not be notified'),
      );
  });
  await deps.db.listen(OUTBOX_CHANNEL, { onMessage: () => placer?.(), onConnected: () => placer?.() });
  await deps.db.listen(EVENTS_CHANNEL, {
    onMessage: (text) => notify(text.split(',')),
    // Announcements that were sent while the connection was down are lost.
    onConnected: () => notify(undefined),
  });
  return {
    subscribe: (listener) => void listeners.push(listener),
    onNotified(wake, signal) {
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
