/** How long to wait before the next try: doubling, at most half a minute, and spread so that a crowd does not come at once. */
export function backoffMs(attempt: number, random: () => number): number {
  const base = Math.min(30_000, 1_000 * 2 ** Math.min(attempt, 5));
  return Math.round(base * (0.75 + random() / 2));
}

/** Resolves after the time, or at once when the signal ends it or something outside wakes it; never rejects. */
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
