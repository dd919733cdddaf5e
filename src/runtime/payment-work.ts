import type { Clock } from './world.ts';

/**
 * Counts payment work: requests to this node that create or change a payment, and objects that change on any node. Background work
 * gives way to it. Requests that only read do not count, because a caller that reads a lot must not slow down other work. Long
 * polls do not count: they wait for a payer or a chain, not for this node.
 */
export interface PaymentWork {
  begin(): void;
  end(): void;
  noteChanges(count: number): void;
  /** True if many requests were open at the same time since the last call. Then they waited for this node or the database. */
  hasWaited(): boolean;
  /**
   * True if there was more than a little payment work in the last second. The fan-out of webhooks then
   * pauses longer. Webhook deliveries slow down only if the event loop is busy as well.
   */
  isThere(): boolean;
}

/**
 * From this number of open requests on, payments are waiting. A node with free time answers each request within milliseconds, so
 * fewer requests are open at once.
 */
const WAITING_FROM = 16;
/**
 * The requests and changes per second above which there is payment work. The number must be low, because a flood of other work
 * slows payments down to a few each second.
 */
const THERE_PER_SECOND = 10;
const WINDOW_MS = 1_000;

export function createPaymentWork(clock: Clock): PaymentWork {
  let startMs = clock.nowMs();
  let done = 0;
  let lastPerSecond = 0;
  let underWay = 0;
  let mostUnderWay = 0;
  return {
    begin() {
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
    },
    end() {
      underWay -= 1;
      done += 1;
    },
    noteChanges(count) {
      done += count;
    },
    hasWaited() {
      const most = mostUnderWay;
      // The peak since the last call decides. Requests are answered in batches, so even a fully loaded node mostly has few open requests.
      mostUnderWay = underWay;
      return most >= WAITING_FROM;
    },
    isThere() {
      const passedMs = clock.nowMs() - startMs;
      if (passedMs >= WINDOW_MS) {
        lastPerSecond = (done * 1000) / passedMs;
        startMs += passedMs;
        done = 0;
      }
      return lastPerSecond > THERE_PER_SECOND;
    },
  };
}
