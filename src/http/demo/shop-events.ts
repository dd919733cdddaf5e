import type { App } from '../deps.ts';
import { callApi, type ShopDeps } from './demo-shop.ts';

/** An event as the API tells the shop. */
export interface ShopEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly sequence: number;
  readonly data: { readonly id: string; readonly status?: string; readonly paymentId?: string };
}

/** The events that the shop has got, in the memory of its node. A shop with a database would keep them there. */
export interface ShopEvents {
  /** Takes an event from any source. An event that comes again counts once. */
  take(event: ShopEvent): void;
  /** Reads the feed up to its end. The first call begins with the next event. */
  catchUp(): Promise<void>;
  /** The newest first. */
  list(): readonly ShopEvent[];
}

const KEPT = 100;
const PAGE = 100;
/** More than the demo's visitors cause between two looks. */
const MAX_PAGES = 50;

export function createShopEvents(app: App, { sandbox }: ShopDeps): ShopEvents {
  const events = new Map<string, ShopEvent>();
  let cursor = 'latest';
  let reading: Promise<void> | undefined;

  function take(event: ShopEvent): void {
    if (events.has(event.id)) return;
    events.set(event.id, event);
    const [oldest] = events.keys();
    if (events.size > KEPT && oldest !== undefined) events.delete(oldest);
  }

  async function read(): Promise<void> {
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const query = new URLSearchParams({ after: cursor, limit: String(PAGE), merchantId: sandbox.merchantId });
      const page = await callApi<{ events: readonly ShopEvent[]; nextCursor: string }>(
        app,
        sandbox,
        'GET',
        `/v1/events?${query}`,
      );
      page.events.forEach(take);
      cursor = page.nextCursor;
      if (page.events.length < PAGE) return;
    }
  }

  return {
    take,
    async catchUp() {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    list: () => [...events.values()].reverse(),
  };
}
