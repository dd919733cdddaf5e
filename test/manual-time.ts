import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemWorld } from '../src/runtime/system-world.ts';
import type { Clock, Timers } from '../src/runtime/world.ts';

/** Time that passes only on request; due timers run then. */
export interface ManualTime {
  readonly clock: Clock;
  readonly timers: Timers;
  advance(ms: number): Promise<void>;
}

export function manualTime(startMs = Date.UTC(2026, 2, 1)): ManualTime {
  let nowMs = startMs;
  const pending = new Set<{ atMs: number; run: () => void }>();

  function after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: nowMs + delayMs, run };
    pending.add(timer);
    return () => pending.delete(timer);
  }

  return {
    clock: { nowMs: () => nowMs },
    timers: {
      ...systemWorld.timers,
      after,
      sleep: (delayMs) => (delayMs === 0 ? nextTurn() : new Promise((resolve) => after(delayMs, resolve))),
    },
    async advance(ms) {
      nowMs += ms;
      for (const timer of [...pending].filter(({ atMs }) => atMs <= nowMs)) {
        pending.delete(timer);
        timer.run();
      }
      await nextTurn();
    },
  };
}
