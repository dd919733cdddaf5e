import { unshifted } from '../../runtime/shifted-clock.ts';
import { databaseFault } from '../../store/plumbing/database.ts';
import type { HttpDeps } from '../deps.ts';
import { readmit } from '../entry/access.ts';
import type { HoldPlace } from './hold-places.ts';

export interface Held<T> {
  /** The id or name of the watched object, which is announced with each change. */
  readonly watched: string;
  readonly place: HoldPlace;
  /** The end of the wait, by the clock that test keys cannot move. */
  readonly untilMs: number;
  readonly find: () => Promise<T>;
  /** True if there is nothing left to wait for. */
  readonly isOver: (found: T) => boolean;
  /** The longest wait for an announcement before the next read. */
  readonly waitMs?: (found: T) => number;
}

/** The pause after a failed read. */
const READ_AGAIN_MS = 1_000;

/**
 * Holds a request: reads, and reads again with each announcement, until `isOver` is true, the time is over, the client leaves, or
 * the node stops. While the database is unreachable the request stays held. It then ends with an error, because the last row that
 * was read may be outdated. Before each further read the caller is admitted again, because its key or session may have ended
 * meanwhile.
 */
export async function holdUntil<T>(deps: HttpDeps, held: Held<T>): Promise<T> {
  const { longPolls, world } = deps;
  const { place, untilMs, waitMs = () => Number.POSITIVE_INFINITY } = held;
  const watch = longPolls.watch(held.watched, place.gone);
  const clock = unshifted(world.clock);
  const leftMs = () => untilMs - clock.nowMs();
  const isEnd = () => leftMs() <= 0 || place.gone.aborted || longPolls.isReleased;
  try {
    for (let find = held.find; ; find = () => readmit(deps, place.request).then(held.find)) {
      const read = await find().then(
        (found) => ({ found }),
        (error: unknown) => {
          if (databaseFault(error) !== 'unavailable' || isEnd()) throw error;
          return undefined;
        },
      );
      if (read !== undefined && (isEnd() || held.isOver(read.found))) return read.found;
      await watch.wait(Math.min(leftMs(), read === undefined ? READ_AGAIN_MS : waitMs(read.found)));
    }
  } finally {
    watch.end();
    place.free();
  }
}
