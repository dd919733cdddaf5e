import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import type { Database } from '../plumbing/database.ts';
import { type FeedAsk, type FeedPage, lastPosition, readFeeds } from './partner-feed.ts';

/** Reads pages of partners' events. Concurrent requests share statements, because a thousand waiting clients may wake at once. */
export interface FeedReader {
  page(ask: FeedAsk): Promise<FeedPage>;
  /** The position of the newest event of all partners, or 0 if there is none. */
  last(): Promise<number>;
}

const MAX_ASKS = 50;
const MAX_CONCURRENT = 2;

export function createFeedReader({ world, db }: { readonly world: World; readonly db: Database }): FeedReader {
  const shared = { maxItems: MAX_ASKS, maxConcurrent: MAX_CONCURRENT, isItemsFault: () => false };
  const page = createBatcher<FeedAsk, FeedPage>(world, { ...shared, run: (asks) => readFeeds(db.sql, asks) });
  const last = createBatcher<undefined, number>(world, {
    ...shared,
    run: async (asks) => {
      const position = await lastPosition(db.sql);
      return asks.map(() => position);
    },
  });
  return { page, last: () => last(undefined) };
}
