/**
 * A clock with the server's time, because payers' clocks may be wrong by an hour. It starts with the time in the document and
 * continues with the monotonic clock. The gateway's answers correct it, because the monotonic clock may stop while a laptop sleeps.
 */
export interface ServerClock {
  nowMs(): number;
  observe(serverMs: number): void;
}

/** The deviation from the server's time that is not corrected: `Date` headers have whole seconds, and answers take time. */
const TOLERANCE_MS = 2_000;

export function createServerClock(renderedAtMs: number, monotonicMs: () => number, sinceRenderMs: number): ServerClock {
  let offsetMs = renderedAtMs + sinceRenderMs - monotonicMs();
  const nowMs = () => offsetMs + monotonicMs();
  return {
    nowMs,
    observe(serverMs) {
      const difference = serverMs - nowMs();
      if (Math.abs(difference) > TOLERANCE_MS) offsetMs += difference;
    },
  };
}
