import { createBatcher } from '../../runtime/batcher.ts';
import type { Log, World } from '../../runtime/world.ts';
import type { Database } from '../plumbing/database.ts';

/**
 * Tells every node which payments have changed. The news is sent after the commit, many changes at a time: NOTIFY
 * inside the transaction would make all commits of the database wait for each other. So news can be lost in a crash;
 * whoever waits for a change therefore also looks for itself now and then.
 */
export interface PaymentFeed {
  announce(paymentIds: readonly string[]): void;
  /** Called with ids that changed, on this node or another; with undefined when news may have been missed. */
  subscribe(listener: (paymentIds: readonly string[] | undefined) => void): void;
}

const CHANNEL = 'till_payments';
/** A message holds 8,000 bytes, an id has 30. */
const MAX_IDS = 250;

export async function openPaymentFeed(deps: { db: Database; world: World; log: Log }): Promise<PaymentFeed> {
  const listeners: ((paymentIds: readonly string[] | undefined) => void)[] = [];
  const tell = (paymentIds: readonly string[] | undefined) => {
    for (const listener of listeners) listener(paymentIds);
  };
  const send = createBatcher<string, true>(deps.world.timers, {
    run: async (ids) => {
      await deps.db.sql`select pg_notify(${CHANNEL}, ${ids.join(',')})`;
      return ids.map(() => true as const);
    },
    maxItems: MAX_IDS,
    maxConcurrent: 1,
    isItemsFault: () => false,
  });
  await deps.db.listen(CHANNEL, {
    onMessage: (text) => tell(text.split(',')),
    // Whenever the connection comes back, changes made meanwhile went unheard.
    onConnected: () => tell(undefined),
  });
  return {
    announce(paymentIds) {
      if (paymentIds.length === 0) return;
      tell(paymentIds);
      for (const id of paymentIds) {
        send(id).catch((error: unknown) => deps.log.warn({ err: error }, 'could not tell other nodes of a change'));
      }
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
