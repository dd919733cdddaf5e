import type { World } from '../runtime/world.ts';
import type { Nap } from './wake.ts';

export interface PaceInput {
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly blockTimeMs: number;
  /** True if the network has open items. */
  readonly isInUse: () => Promise<boolean>;
  /** A sleep that changes of payments end early, on any network and node. */
  readonly nap: Nap;
}

/** With open items, a block is seen within a twentieth of the block time. */
const LOOKS_PER_BLOCK = 20;
const MIN_LOOK_MS = 50;
const MAX_LOOK_MS = 1_000;
/** Without open items, blocks may be read late. */
const MIN_IDLE_MS = 1_000;
const MAX_IDLE_MS = 5_000;

/**
 * The pause before a chain is read again. Providers charge for every call, so an idle network is read rarely. A wake-up
 * checks the database, which is cheap, and not the chain.
 */
export function createPace({ world, blockTimeMs, isInUse, nap }: PaceInput): (signal: AbortSignal) => Promise<void> {
  const lookMs = clamp(blockTimeMs / LOOKS_PER_BLOCK, MIN_LOOK_MS, MAX_LOOK_MS);
  const idleMs = clamp(blockTimeMs / 2, MIN_IDLE_MS, MAX_IDLE_MS);
  return async (signal) => {
    const startMs = world.clock.nowMs();
    while (!signal.aborted) {
      // The least time between two checks of the database.
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
