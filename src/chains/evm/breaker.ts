import { backoffMs, withJitter } from '../../runtime/backoff.ts';
import type { World } from '../../runtime/world.ts';

/**
 * Keeps us from asking an endpoint that does not answer. After a few failures in a row it is left alone, for longer each
 * time; then one request tries it again, and its fate decides.
 */
export interface Breaker {
  /** Whether a request may be sent now. */
  allows(): boolean;
  /** Whether a request is sent: the first after a pause is, and the others wait for what becomes of it. */
  begins(): boolean;
  isOpen(): boolean;
  succeeded(): void;
  failed(): void;
  /** Leaves the endpoint alone at once, for as long as it asked for and, if it goes on asking, a little longer. */
  paused(pauseMs: number): void;
  close(): void;
}

const FAILURES_TO_OPEN = 3;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** An endpoint that asks for pauses is alive: one that has stopped asking is in use again this soon. */
const MAX_ADDED_PAUSE_MS = 5_000;

export function createBreaker(
  world: Pick<World, 'timers' | 'random'>,
  onChange: (isOpen: boolean) => void = () => {},
): Breaker {
  let state: 'closed' | 'open' | 'trial' | 'trying' = 'closed';
  let failures = 0;
  let cancelTimer = () => {};

  // Pauses are timers and not points in time: a clock that is set back must not keep an endpoint out.
  function open(pauseMs: number): void {
    if (state === 'open') return;
    const wasClosed = state === 'closed';
    state = 'open';
    cancelTimer = world.timers.after(pauseMs, () => {
      state = 'trial';
    });
    if (wasClosed) onChange(true);
  }

  const usualPauseMs = (maxMs: number) =>
    withJitter(world, backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs }, failures - FAILURES_TO_OPEN + 1));

  return {
    allows: () => state === 'closed' || state === 'trial',
    begins: () => {
      const mayBegin = state === 'closed' || state === 'trial';
      if (state === 'trial') state = 'trying';
      return mayBegin;
    },
    isOpen: () => state === 'open',
    succeeded: () => {
      failures = 0;
      // An answer to what was asked before the pause began says nothing about the endpoint now.
      if (state === 'open') return;
      const wasClosed = state === 'closed';
      state = 'closed';
      if (!wasClosed) onChange(false);
    },
    failed: () => {
      failures += 1;
      if (state !== 'closed' || failures >= FAILURES_TO_OPEN) open(usualPauseMs(MAX_PAUSE_MS));
    },
    paused: (pauseMs) => {
      failures += 1;
      // Never less than what it asked for: the jitter keeps nodes apart that were sent away together.
      const askedMs = withJitter(world, Math.min(pauseMs, MAX_PAUSE_MS));
      open(Math.max(askedMs, usualPauseMs(MAX_ADDED_PAUSE_MS)));
    },
    close: () => cancelTimer(),
  };
}
