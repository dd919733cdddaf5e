import { ApiError, type TillError } from './errors.ts';

/** Told of a failure that may pass, and of the pause before the next attempt. */
export type Interruption = (error: TillError, waitMs: number) => void;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** Longer waits are for the caller to decide. */
const LONGEST_RETRY_AFTER_S = 60;
const LONGEST_PATIENCE_S = 600;

/** The pause before the next attempt, with jitter; undefined if the gateway asks for a longer one than a caller expects. */
export function pauseMs(attempt: number, error: TillError, isPatient: boolean): number | undefined {
  const askedS = error instanceof ApiError ? (error.retryAfterS ?? 0) : 0;
  if (askedS > LONGEST_RETRY_AFTER_S && !isPatient) return undefined;
  const backoffMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  // Between the half and the whole of it. What the gateway asks for is waited for in full.
  return Math.round(Math.min(askedS, LONGEST_PATIENCE_S) * 1000 + (backoffMs * (1 + Math.random())) / 2);
}

/** Rejects with the reason of the signal as soon as it aborts. */
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
