import { ApiError } from '../../errors.ts';
import type { World } from '../../runtime/world.ts';

/**
 * The importance of a route under overload: the share of the allowed delay above which its requests are refused. `money`:
 * creates, pays or follows a payment. `normal`: the default. `spare`: lists, documentation and pages. `probe`: health checks,
 * never refused, because a refusal would restart the node.
 */
const SHARE_OF_DELAY = { probe: Number.POSITIVE_INFINITY, money: 1, normal: 0.7, spare: 0.4 } as const;

export type Priority = keyof typeof SHARE_OF_DELAY;

declare module 'fastify' {
  interface FastifyContextConfig {
    priority?: Priority;
  }
}

/**
 * Measures the delay of the event loop with a recurring timer. The timer's lateness is the time that other events had to wait. The
 * delay is a moving average: an overloaded loop is late in most turns, but a single long turn, such as the first ones after the
 * start, is no overload.
 */
export interface LoadGauge {
  /** Throws a 503 while the delay is too long for the priority: a quick refusal is better than a late answer. */
  check(priority: Priority): void;
  stop(): void;
}

const EVERY_MS = 100;
/** The weight of the newest measurement in the moving average of the delay. */
const WEIGHT = 0.3;

export function createLoadGauge(
  { clock, timers }: World,
  { maxDelayMs, onRefusal }: { maxDelayMs: number; onRefusal: () => void },
): LoadGauge {
  let dueAtMs = Number.POSITIVE_INFINITY;
  let averageMs = 0;
  let cancel = () => {};
  /** The moving average with a measurement at this moment. It is used while the timer is late, and has not measured that delay yet. */
  const averageNow = () => averageMs + WEIGHT * (Math.max(0, clock.nowMs() - dueAtMs) - averageMs);
  const tick = () => {
    averageMs = averageNow();
    dueAtMs = clock.nowMs() + EVERY_MS;
    cancel = timers.after(EVERY_MS, tick);
  };
  if (maxDelayMs > 0) tick();
  return {
    check(priority) {
      if (maxDelayMs === 0) return;
      const delayMs = clock.nowMs() > dueAtMs ? averageNow() : averageMs;
      if (delayMs <= maxDelayMs * SHARE_OF_DELAY[priority]) return;
      onRefusal();
      throw new ApiError('internal_error', 'This node is overloaded. Try again in a second.', {
        status: 503,
        retryAfterS: 1,
      });
    },
    stop: () => cancel(),
  };
}
