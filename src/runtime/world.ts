import type { BaseLogger } from 'pino';
import type { CrashPoint } from './crash-points.ts';

/**
 * Clock, timers and randomness, handed in by the composition root. Nothing below `main.ts` reads the machine's clock,
 * sets a timer or draws randomness by itself, so a test, or a simulation in virtual time, can stand in for all three.
 */
export interface World {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Milliseconds for which the event loop was active so far. Missing in virtual time, where no loop is ever busy. */
  readonly busyMs?: () => number;
  /** Ends the process at the chosen point. Only the crash harness has it. */
  readonly crashPoint?: (point: CrashPoint) => void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export interface Timers {
  /** Runs once after the delay, unless the returned function is called first. */
  after(delayMs: number, run: () => void): () => void;
  /** Runs once after the events that are ready have been handled, so that their work can be batched. */
  soon(run: () => void): void;
  /** Resolves after the delay, or at once when the signal aborts. It never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

export type Log = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;
