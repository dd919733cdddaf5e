import { setTimeout as pause } from 'node:timers/promises';

const EVERY_MS = 15;

/** Waits for a condition. The error after the timeout names it. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { withinMs = 60_000 } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}.`);
    await pause(EVERY_MS);
  }
}
