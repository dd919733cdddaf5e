import type { TillEvent } from '../../../sdk/src/api-types.ts';

/** The events that the shop has got, in the memory of its node. A shop with a database would keep them there. */
export interface ShopEvents {
  /** Takes an event. An event that comes again counts once. */
  take(event: TillEvent): void;
  /** The newest first. */
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
    // Webhooks come in no promised order.
    list: () =>
      [...events.values()].toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.sequence - a.sequence),
  };
}
