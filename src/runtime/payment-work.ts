import type { Clock } from './world.ts';

/**
 * The work for payments: requests to this node that create or move one, and objects that change on any node. Work that can
 * wait gives way to it. Requests that only read are left out, because a noisy reader must not slow down anything else. So
 * are held requests: they wait for a payer or a chain.
 */
export interface PaymentWork {
  begin(): void;
  end(): void;
  noteChanges(count: number): void;
  /** True if many requests are under way at this moment: they wait for this node or for the database. */
  isWaiting(): boolean;
  /** True if there was much work in the last second. That is no reason to give way if the node has time left. */
  isMuch(): boolean;
}

/** A node that has time answers each within milliseconds, so that few are under way. */
const WAITING_FROM = 16;
const MUCH_PER_SECOND = 300;
const WINDOW_MS = 1_000;

export function createPaymentWork(clock: Clock): PaymentWork {
  let startMs = clock.nowMs();
  let done = 0;
  let lastPerSecond = 0;
  let underWay = 0;
  return {
    begin() {
      underWay += 1;
    },
    end() {
      underWay -= 1;
      done += 1;
    },
    noteChanges(count) {
      done += count;
    },
    isWaiting: () => underWay >= WAITING_FROM,
    isMuch() {
      const passedMs = clock.nowMs() - startMs;
      if (passedMs >= WINDOW_MS) {
        lastPerSecond = (done * 1000) / passedMs;
        startMs += passedMs;
        done = 0;
      }
      return lastPerSecond > MUCH_PER_SECOND;
    },
  };
}
