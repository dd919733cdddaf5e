import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';

/**
 * A cache with a maximum age, for rows that every request reads. Rows in use are refreshed in the background, many in one statement, so
 * most reads need no round trip. A change by any node is visible on all nodes within the maximum age. If the database is unreachable, the
 * rows become too old, and the next read reports the error.
 */
export interface FreshCache<Row> {
  /** The row, if it is cached and not too old. Never reads the database. */
  peek(key: string): Row | undefined;
  /** The row, from the cache or the database. Concurrent reads share one statement. */
  get(key: string): Promise<Row | undefined>;
  /** Removes a row from the cache, because this node has just changed it. */
  forget(key: string): void;
  stop(): void;
}

export interface FreshCacheInput<Row> {
  readonly read: (keys: readonly string[]) => Promise<readonly Row[]>;
  readonly keyOf: (row: Row) => string;
}

const REFRESH_MS = 2_000;
const MAX_AGE_MS = 4_500;
const IDLE_MS = 60_000;
const MAX_ROWS = 20_000;
const MAX_KEYS_PER_READ = 1_000;

interface Entry<Row> {
  readonly row: Row;
  readonly readAtMs: number;
  usedAtMs: number;
}

export function createFreshCache<Row>(world: World, { read, keyOf }: FreshCacheInput<Row>): FreshCache<Row> {
  const entries = new Map<string, Entry<Row>>();
  const waiting = new Map<string, Promise<Row | undefined>>();
  const readBatched = createBatcher<string, Row | undefined>(world, {
    run: async (keys) => {
      const rows = await readInto(keys);
      return keys.map((key) => rows.get(key));
    },
    maxItems: MAX_KEYS_PER_READ,
    maxConcurrent: 2,
    isItemsFault: () => false,
  });
  let cancelRefresh: (() => void) | undefined;
  let isStopped = false;

  async function readInto(keys: readonly string[]): Promise<Map<string, Row>> {
    // The age of the rows is counted from before the read, because a change during the read may be missing in its answer.
    const readAtMs = world.clock.nowMs();
    const rows = new Map((await read(keys)).map((row) => [keyOf(row), row]));
    for (const key of keys) {
      const row = rows.get(key);
      const usedAtMs = entries.get(key)?.usedAtMs ?? readAtMs;
      entries.delete(key);
      if (row !== undefined) entries.set(key, { row, readAtMs, usedAtMs });
    }
    return rows;
  }

  async function refresh(): Promise<void> {
    const oldest = world.clock.nowMs() - IDLE_MS;
    for (const [key, entry] of entries) {
      if (entry.usedAtMs < oldest || entries.size > MAX_ROWS) entries.delete(key);
    }
    const keys = [...entries.keys()];
    for (let start = 0; start < keys.length; start += MAX_KEYS_PER_READ) {
      // If the read fails, the rows become too old, and the next `get` reports the error.
      await readInto(keys.slice(start, start + MAX_KEYS_PER_READ)).catch(() => {});
    }
    cancelRefresh = undefined;
    scheduleRefresh();
  }

  function scheduleRefresh(): void {
    if (isStopped || entries.size === 0) return;
    cancelRefresh ??= world.timers.after(REFRESH_MS, () => void refresh());
  }

  return {
    peek(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const nowMs = world.clock.nowMs();
      if (nowMs - entry.readAtMs > MAX_AGE_MS) return undefined;
      entry.usedAtMs = nowMs;
      return entry.row;
    },
    async get(key) {
      const fresh = this.peek(key);
      if (fresh !== undefined) return fresh;
      const shared = waiting.get(key);
      if (shared !== undefined) return shared;
      const reading = readBatched(key).finally(() => waiting.delete(key));
      waiting.set(key, reading);
      const row = await reading;
      scheduleRefresh();
      return row;
    },
    forget: (key) => void entries.delete(key),
    stop() {
      isStopped = true;
      cancelRefresh?.();
    },
  };
}
