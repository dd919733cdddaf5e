/** The minimum pause between two long polls without news. A gateway node that is stopping answers long polls at once. */
export const MIN_INTERVAL_MS = 1_000;

/** The pause before the next attempt: exponential, up to half a minute. It has jitter, so that pages do not retry at the same moment. */
export function backoffMs(attempt: number, random: () => number): number {
  const base = Math.min(30_000, 1_000 * 2 ** Math.min(attempt, 5));
  return Math.round(base * (0.75 + random() / 2));
}

/** Resolves after the given time, or earlier when the signal aborts or `outside` fires `wake`. It never rejects. */
export function pause(ms: number, signal: AbortSignal, outside?: EventTarget): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      outside?.removeEventListener('wake', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    outside?.addEventListener('wake', done, { once: true });
  });
}
