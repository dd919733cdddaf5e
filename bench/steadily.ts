import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Starts calls at an even pace, whether or not earlier ones have ended, and waits for all of them. */
export async function atRate(
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
  start: (number: number) => Promise<unknown>,
): Promise<void> {
  const calls: Promise<unknown>[] = [];
  const startMs = performance.now();
  for (let number = 0; number < seconds * perSecond; number += 1) {
    const waitMs = startMs + (number * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    calls.push(start(number));
  }
  await Promise.all(calls);
}
