import type { HttpDeps } from '../deps.ts';
import type { HoldPlace } from './hold-places.ts';

/** A request that is held until the wanted change. */
export interface Held<T> {
  /** The id or the name that is announced with each change. */
  readonly watched: string;
  readonly place: HoldPlace;
  readonly untilMs: number;
  readonly find: () => Promise<T>;
  /** Nothing is left to wait for. */
  readonly isOver: (found: T) => boolean;
  /** The longest wait for an announcement before the next look. */
  readonly waitMs?: (found: T) => number;
}

/** Finds again with each announcement, until it is over, the time is over, the client leaves, or the node stops. */
export async function holdUntil<T>({ longPolls, world }: HttpDeps, held: Held<T>): Promise<T> {
  const { place, untilMs, waitMs = () => Number.POSITIVE_INFINITY } = held;
  const watch = longPolls.watch(held.watched, place.gone);
  try {
    for (;;) {
      const found = await held.find();
      const leftMs = untilMs - world.clock.nowMs();
      if (leftMs <= 0 || held.isOver(found) || place.gone.aborted || longPolls.isReleased) return found;
      await watch.wait(Math.min(leftMs, waitMs(found)));
    }
  } finally {
    watch.end();
    place.free();
  }
}
