import type { World } from '../../runtime/world.ts';
import type { EventFeed } from '../../store/events/event-feed.ts';

/** Requests held until a payment changes. */
export interface LongPolls {
  /**
   * Watches a payment from now until `end`. Read the payment after this call: then a change is either in the row or
   * ends the wait.
   */
  watch(paymentId: string, gone: AbortSignal): Watch;
  readonly held: number;
  readonly isReleased: boolean;
  /** Lets every held request go, and holds none from now on. */
  release(): void;
}

export interface Watch {
  /**
   * Resolves when the payment has changed since the last wait, the time is over, the client is gone, or the node is
   * stopping.
   */
  wait(forMs: number): Promise<void>;
  end(): void;
}

/** A wake-up can be lost. No request waits longer than this for a change that has happened. */
const LOOK_AGAIN_MS = 5_000;

export function createLongPolls(world: World, feed: EventFeed): LongPolls {
  const watching = new Map<string, Set<() => void>>();
  let held = 0;
  let isReleased = false;

  const wake = (paymentId: string) => {
    for (const letGo of watching.get(paymentId) ?? []) letGo();
  };
  const wakeAll = () => {
    for (const paymentId of watching.keys()) wake(paymentId);
  };
  feed.subscribe((objectIds) => {
    if (objectIds === undefined) wakeAll();
    else for (const id of objectIds) wake(id);
  });

  return {
    get held() {
      return held;
    },
    get isReleased() {
      return isReleased;
    },
    watch(paymentId, gone) {
      let isWoken = false;
      let resume = () => {};
      const letGo = () => {
        isWoken = true;
        resume();
      };
      const others = watching.get(paymentId) ?? new Set();
      watching.set(paymentId, others.add(letGo));
      gone.addEventListener('abort', letGo, { once: true });
      held += 1;
      return {
        async wait(forMs) {
          if (!isWoken && !isReleased && !gone.aborted) {
            await new Promise<void>((resolve) => {
              const cancelTimer = world.timers.after(Math.min(forMs, LOOK_AGAIN_MS), resolve);
              resume = () => {
                cancelTimer();
                resolve();
              };
            });
          }
          isWoken = false;
        },
        end() {
          gone.removeEventListener('abort', letGo);
          others.delete(letGo);
          if (others.size === 0) watching.delete(paymentId);
          held -= 1;
        },
      };
    },
    release() {
      isReleased = true;
      wakeAll();
    },
  };
}
