import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Clock, World } from './world.ts';

export const systemWorld: World = {
  clock: { nowMs: Date.now },
  timers: {
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
    soon: (run) => void setImmediate(run),
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const finish = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', finish);
          resolve();
        };
        const timer = setTimeout(finish, delayMs);
        signal?.addEventListener('abort', finish, { once: true });
      }),
  },
  random: { bytes: (count) => randomBytes(count) },
  busyMs: () => performance.eventLoopUtilization().active,
};

const { timeOrigin } = performance;

/** A monotonic clock for measuring durations: setting the machine's clock does not affect it. */
export const steadyClock: Clock = { nowMs: () => timeOrigin + performance.now() };
