import type { Clock } from './world.ts';

/**
 * Counts work for payments: requests to this node that create or change a payment, and objects that change on any node. Background
 * work gives way to it. Requests that only read do not count, because a caller that reads a lot must not slow down other work. Long
 * polls do not count: they wait for a payer or a chain, not for this node.
 */
export interface PaymentWork {
  begin(): void;
  end(): void;
  noteChanges(count: number): void;
  /** True if many requests were open at the same time since the last call. Then they waited for this node or the database. */
  hasWaited(): boolean;
  /** True if there was more than a little work in the last second. Background work gives way only on a node short of time. */
  isThere(): boolean;
}

/** A node with free time answers each request within milliseconds, so that fewer are open at once. */
const WAITING_FROM = 16;
/** A flood of other work slows payments down to a few each second, so a low number must be enough to notice them. */
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
      // The maximum counts: requests are answered in batches, so even a full node has few open requests at most moments.
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
