import type { World } from '../deps.ts';
import type { PaymentFeed } from '../store/payment-feed.ts';

/** Requests held until a payment changes. */
export interface LongPolls {
  /** Resolves when the payment has changed, the time is over, the client is gone, or the node is stopping. */
  hold(input: HoldInput): Promise<void>;
  readonly held: number;
  readonly isReleased: boolean;
  /** Lets every held request go, and holds none from now on. */
  release(): void;
}

export interface HoldInput {
  readonly paymentId: string;
  readonly forMs: number;
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal;
}

/** News of a change can be lost; nobody waits longer than this for one that happened. */
const LOOK_AGAIN_MS = 5_000;

export function createLongPolls(world: World, feed: PaymentFeed): LongPolls {
  const waiting = new Map<string, Set<() => void>>();
  let held = 0;
  let isReleased = false;

  const wake = (paymentId: string) => {
    for (const letGo of waiting.get(paymentId) ?? []) letGo();
  };
  const wakeAll = () => {
    for (const paymentId of [...waiting.keys()]) wake(paymentId);
  };
  feed.subscribe((paymentIds) => {
    if (paymentIds === undefined) wakeAll();
    else for (const id of paymentIds) wake(id);
  });

  return {
    get held() {
      return held;
    },
    get isReleased() {
      return isReleased;
    },
    hold({ paymentId, forMs, gone }) {
      if (isReleased || gone.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const letGo = () => {
          cancelTimer();
          gone.removeEventListener('abort', letGo);
          const others = waiting.get(paymentId);
          others?.delete(letGo);
          if (others?.size === 0) waiting.delete(paymentId);
          held -= 1;
          resolve();
        };
        const cancelTimer = world.timers.after(Math.min(forMs, LOOK_AGAIN_MS), letGo);
        gone.addEventListener('abort', letGo, { once: true });
        const others = waiting.get(paymentId) ?? new Set();
        waiting.set(paymentId, others.add(letGo));
        held += 1;
      });
    },
    release() {
      isReleased = true;
      wakeAll();
    },
  };
}
