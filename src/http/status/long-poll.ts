import type { World } from '../../runtime/world.ts';
import type { EventFeed } from '../../store/events/event-feed.ts';

export interface LongPolls {
  /**
   * Watches a payment until `end`. The caller must read the payment after this call: then every change is either in the row that
   * the caller has read, or ends the wait.
   */
  watch(paymentId: string, gone: AbortSignal): Watch;
  readonly held: number;
  readonly isReleased: boolean;
  /** Answers every held request, and lets no further request be held. */
  release(): void;
}

export interface Watch {
  /**
   * Resolves if the payment has changed since the last wait, the time is over, the client has left, or the node stops. It may also
   * resolve earlier, because an announcement can be lost.
   */
  wait(forMs: number): Promise<void>;
  end(): void;
}

/** The longest wait before the payment is read again. An announcement can be lost, so a change may be noticed this late. */
const CHECK_AGAIN_MS = 5_000;

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
              const cancelTimer = world.timers.after(Math.min(forMs, CHECK_AGAIN_MS), resolve);
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
