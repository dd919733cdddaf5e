import { ApiError } from '../../errors.ts';
import type { World } from '../../runtime/world.ts';

/**
 * Measures the delay of the event loop by a recurring timer. The lateness of the timer when a request checks it is the
 * time that earlier events had to wait.
 */
export interface LoadGauge {
  /** Throws a 503 while the delay is too long: a quick refusal is better than a late answer. */
  check(): void;
  stop(): void;
}

const EVERY_MS = 100;

export function createLoadGauge(
  { clock, timers }: World,
  { maxDelayMs, onRefusal }: { maxDelayMs: number; onRefusal: () => void },
): LoadGauge {
  let dueAtMs = 0;
  let cancel = () => {};
  const tick = () => {
    dueAtMs = clock.nowMs() + EVERY_MS;
    cancel = timers.after(EVERY_MS, tick);
  };
  if (maxDelayMs > 0) tick();
  return {
    check() {
      if (maxDelayMs === 0 || clock.nowMs() - dueAtMs <= maxDelayMs) return;
      onRefusal();
      throw new ApiError('internal_error', 'This node is overloaded. Try again in a second.', {
        status: 503,
        retryAfterS: 1,
      });
    },
    stop: () => cancel(),
  };
}
