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
  /** True if many requests were under way together at a moment since the last call: they waited for this node or the database. */
  hasWaited(): boolean;
  /** True if there was more than a little work in the last second. That is no reason to give way if the node has time left. */
  isThere(): boolean;
}

/** A node that has time answers each within milliseconds, so that few are under way. */
const WAITING_FROM = 16;
/** A flood of other work slows payments down to few a second. So it must not take many to be noticed. */
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
      // Many are answered together, so that few are under way at most moments of a full node.
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
