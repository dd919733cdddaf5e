/**
 * The server's time. Payers' clocks may be wrong by an hour, so the page starts from the time in the document,
 * continues with the monotonic clock, and is corrected by the gateway's answers, because that clock may stop in a
 * sleeping laptop.
 */
export interface ServerClock {
  nowMs(): number;
  observe(serverMs: number): void;
}

/** `Date` headers have whole seconds, and answers take time: smaller differences are noise. */
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
