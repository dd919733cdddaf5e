import type { World } from '../runtime/world.ts';

const RETRY_MS = 500;

/**
 * Stores the result of claimed work. The database may be away for a moment, and a result that is not stored makes another
 * node do the work again.
 */
export async function storeWhileClaimed(
  { clock, timers }: Pick<World, 'clock' | 'timers'>,
  untilMs: number,
  store: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await store();
      return;
    } catch (error) {
      if (clock.nowMs() + RETRY_MS >= untilMs) throw error;
      await timers.sleep(RETRY_MS);
    }
  }
}
