import { ApiError, type TillError } from './errors.ts';

/** A callback for a temporary failure. It gets the error and the pause before the next attempt. */
export type Interruption = (error: TillError, waitMs: number) => void;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/**
 * The longest `Retry-After` that the client waits for if the number of retries is limited. If the gateway asks for more, the error is
 * thrown at once, so that the caller decides.
 */
const LONGEST_RETRY_AFTER_S = 60;
const LONGEST_PATIENCE_S = 600;

/** The pause before the next attempt, with jitter. Undefined if the gateway's `Retry-After` is too long: the error is then thrown. */
export function pauseMs(attempt: number, error: TillError, isPatient: boolean): number | undefined {
  const askedS = error instanceof ApiError ? (error.retryAfterS ?? 0) : 0;
  if (askedS > LONGEST_RETRY_AFTER_S && !isPatient) return undefined;
  const backoffMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  // The gateway's `Retry-After`, up to ten minutes, plus half to all of the backoff.
  return Math.round(Math.min(askedS, LONGEST_PATIENCE_S) * 1000 + (backoffMs * (1 + Math.random())) / 2);
}

/** Resolves after the given time. Rejects with the reason of the signal as soon as the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
