import type { World } from '../runtime/world.ts';

const RETRY_MS = 500;

/**
 * Stores the result of claimed work, with retries until the claim ends: the database may be unreachable for a moment, and a lost
 * result makes another node repeat the work.
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
