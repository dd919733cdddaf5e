import type { TillEvent } from '../../../sdk/src/api-types.ts';

/** The events that the shop has received, in the memory of its node. A real shop would use a database. */
export interface ShopEvents {
  /** Stores an event. An event that arrives again is stored once. */
  take(event: TillEvent): void;
  /** The stored events, newest first. */
  list(): readonly TillEvent[];
}

const KEPT = 100;

export function createShopEvents(): ShopEvents {
  const events = new Map<string, TillEvent>();
  return {
    take(event) {
      if (events.has(event.id)) return;
      events.set(event.id, event);
      const [oldest] = events.keys();
      if (events.size > KEPT && oldest !== undefined) events.delete(oldest);
    },
    // Sorted by time, because webhooks may arrive in any order.
    list: () =>
      [...events.values()].toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.sequence - a.sequence),
  };
}
