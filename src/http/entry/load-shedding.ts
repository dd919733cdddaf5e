import { ApiError } from '../../errors.ts';
import type { World } from '../../runtime/world.ts';

/**
 * Notices when the event loop runs late. A timer is due again and again; how late it is when a request looks is how long
 * everything that arrived before had to wait.
 */
export interface LoadGauge {
  /** Throws a 503 while the event loop is too late: an answer now is worth more than a right one later. */
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
