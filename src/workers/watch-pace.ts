import type { World } from '../runtime/world.ts';
import type { Nap } from './wake.ts';

export interface PaceInput {
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly blockTimeMs: number;
  readonly isInUse: () => Promise<boolean>;
  /** A sleep that ends early when a payment changes, on any network or node. */
  readonly nap: Nap;
}

/** The number of reads of the chain in each block time, while there are open items. */
const READS_PER_BLOCK = 20;
const MIN_READ_MS = 50;
const MAX_READ_MS = 1_000;
/** The shortest and longest pause without open items. A delay in reading blocks then does no harm. */
const MIN_IDLE_MS = 1_000;
const MAX_IDLE_MS = 5_000;

/**
 * The pause before a chain is read again. Providers charge for every call, so an idle network is read rarely. A wake-up only checks
 * the database, which is cheap, for open items.
 */
export function createPace({ world, blockTimeMs, isInUse, nap }: PaceInput): (signal: AbortSignal) => Promise<void> {
  const readMs = clamp(blockTimeMs / READS_PER_BLOCK, MIN_READ_MS, MAX_READ_MS);
  const idleMs = clamp(blockTimeMs / 2, MIN_IDLE_MS, MAX_IDLE_MS);
  return async (signal) => {
    const startMs = world.clock.nowMs();
    while (!signal.aborted) {
      // The shortest time between two checks of the database.
      await world.timers.sleep(readMs, signal);
      if (await isInUse()) return;
      // If the clock was set back, the chain is read too early rather than too late.
      const restedMs = Math.abs(world.clock.nowMs() - startMs);
      if (restedMs >= idleMs) return;
      await nap(idleMs - restedMs, signal);
    }
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
