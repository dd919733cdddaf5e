import type { World } from './world.ts';

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The factor between two delays; 2 by default. */
  readonly factor?: number;
}

/** The largest exponent. It keeps the delay finite for any count of failures. */
const MAX_EXPONENT = 30;

export function backoffMs({ firstMs, maxMs, factor = 2 }: Backoff, failures: number): number {
  return Math.min(maxMs, firstMs * factor ** Math.min(Math.max(failures - 1, 0), MAX_EXPONENT));
}

/** The delay plus up to a quarter: nodes that failed together must not retry together. Never less than the delay. */
export function withJitter({ random }: Pick<World, 'random'>, delayMs: number): number {
  const [byte = 0] = random.bytes(1);
  return Math.floor(delayMs * (1 + byte / 1_024));
}

/** A random factor between 0.8 and 1.2. */
export function jitterOf({ random }: Pick<World, 'random'>): number {
  return 0.8 + ((random.bytes(1)[0] ?? 0) / 255) * 0.4;
}
