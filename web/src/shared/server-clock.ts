/**
 * The server's time, because payers' clocks may be wrong by an hour. The clock starts with the time in the document, continues with
 * the monotonic clock, and is corrected by the gateway's answers: the monotonic clock may stop while a laptop sleeps.
 */
export interface ServerClock {
  nowMs(): number;
  observe(serverMs: number): void;
}

/** Smaller differences are ignored: `Date` headers have whole seconds, and answers take time. */
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
