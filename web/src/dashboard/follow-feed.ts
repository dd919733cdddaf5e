import { backoffMs, MIN_INTERVAL_MS } from '../shared/backoff.ts';

export interface Feed {
  readonly events: readonly { readonly data: unknown }[];
  readonly nextCursor: string;
}

interface FollowInput {
  /** Asks for the events after a cursor. The gateway holds the request until there is an event, at most for `maxPollMs`. */
  readonly ask: (after: string, maxPollMs: number) => Promise<Feed>;
  readonly onEvents: () => Promise<void>;
  /** Called with true after each answer, and with false after each failure. */
  readonly onLive: (isLive: boolean) => void;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const LATEST = 'latest';
const HOLD_MS = 25_000;

/** Follows the event feed from the latest event on, until the signal aborts. */
export async function followFeed({ ask, onEvents, onLive, pause, random, signal }: FollowInput): Promise<void> {
  let after = LATEST;
  for (let failures = 0; !signal.aborted; ) {
    try {
      const holdMs = after === LATEST ? 0 : HOLD_MS;
      const feed = await ask(after, holdMs);
      after = feed.nextCursor;
      failures = 0;
      onLive(true);
      if (feed.events.length > 0) await onEvents();
      else if (holdMs > 0) await pause(MIN_INTERVAL_MS, signal);
    } catch {
      if (signal.aborted) return;
      onLive(false);
      failures += 1;
      await pause(backoffMs(failures, random), signal);
    }
  }
}
