import type { BaseLogger } from 'pino';
import type { CrashPoint } from './crash-points.ts';
import type { Tracing } from './tracing.ts';

/**
 * Clock, timers and randomness, passed in by the composition root. No code below `main.ts` reads the machine's clock, sets a timer
 * or draws random numbers itself. So tests and simulations can replace all three.
 */
export interface World {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Milliseconds for which the event loop was active so far. Missing in virtual time, which has no event loop. */
  readonly busyMs?: () => number;
  /** Ends the process if this crash point was chosen. Only the crash harness sets this function. */
  readonly crashPoint?: (point: CrashPoint) => void;
  /** Records spans. Missing if no receiver of traces is configured. */
  readonly tracing?: Tracing | undefined;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export interface Timers {
  /** Runs once after the delay, unless the returned function cancels it first. */
  after(delayMs: number, run: () => void): () => void;
  /** Runs once after all pending events have been handled, so that their work can be batched. */
  soon(run: () => void): void;
  /** Resolves after the delay, or at once when the signal aborts. It never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

export type Log = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;
