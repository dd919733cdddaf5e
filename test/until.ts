import { setTimeout as pause } from 'node:timers/promises';

/** Pauses between two looks. They grow, because each look takes processor time from the work that is waited for. */
const PAUSE = { firstMs: 5, mostMs: 60, growth: 1.4 };

/** Waits for a condition. The error after the timeout names it. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { withinMs = 60_000 } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = PAUSE.firstMs; !(await condition()); pauseMs = Math.min(pauseMs * PAUSE.growth, PAUSE.mostMs)) {
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}.`);
    await pause(pauseMs);
  }
}
