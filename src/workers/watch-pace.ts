import type { World } from '../runtime/world.ts';
import type { Nap } from './wake.ts';

export interface PaceInput {
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly blockTimeMs: number;
  /** Whether somebody waits for something on this network. */
  readonly isInUse: () => Promise<boolean>;
  /** Ended early by news of payments, on whatever network and node. */
  readonly nap: Nap;
}

/** While somebody waits, a block is seen within a twentieth of the time between two of them. */
const LOOKS_PER_BLOCK = 20;
const MIN_LOOK_MS = 50;
const MAX_LOOK_MS = 1_000;
/** When nobody does, what is read can be late: reading it in time is for keeping up. */
const MIN_IDLE_MS = 1_000;
const MAX_IDLE_MS = 5_000;

/**
 * How long to rest before a chain is looked at again. A provider charges for every look, so a network on which nothing is
 * being paid is left alone; news makes it look into the database, which costs little, and not at the chain.
 */
export function createPace({ world, blockTimeMs, isInUse, nap }: PaceInput): (signal: AbortSignal) => Promise<void> {
  const lookMs = clamp(blockTimeMs / LOOKS_PER_BLOCK, MIN_LOOK_MS, MAX_LOOK_MS);
  const idleMs = clamp(blockTimeMs / 2, MIN_IDLE_MS, MAX_IDLE_MS);
  return async (signal) => {
    const startMs = world.clock.nowMs();
    while (!signal.aborted) {
      // However much news there is, it is looked into this often.
      await world.timers.sleep(lookMs, signal);
      if (await isInUse()) return;
      // A clock that was set back makes it look too early, and never too late.
      const restedMs = Math.abs(world.clock.nowMs() - startMs);
      if (restedMs >= idleMs) return;
      await nap(idleMs - restedMs, signal);
    }
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
