import type { Timers } from '../runtime/world.ts';
import { RateSourceError } from './rates.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;

/** The body of a source's answer, bounded in size and time. Throws a `RateSourceError`, also when the signal aborts. */
export async function fetchAnswer(timers: Timers, url: string, signal: AbortSignal): Promise<string> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  let isLate = false;
  const cancelTimer = timers.after(TIMEOUT_MS, () => {
    isLate = true;
    abort();
  });
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await fetchText(url, stop.signal);
  } catch (error) {
    if (error instanceof RateSourceError) throw error;
    // The error of `fetch` is dropped: it may contain the URL, which may contain a key.
    throw new RateSourceError(isLate ? `took longer than ${TIMEOUT_MS / 1000} s` : 'could not be reached');
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', abort);
  }
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  // Redirects are not followed: they would let the source choose another source. A redirect fails like every status but 200.
  const headers = { accept: 'application/json', 'user-agent': 'till' };
  const response = await fetch(url, { redirect: 'manual', signal, headers });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new RateSourceError(`answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // A throw inside the loop cancels the rest of the answer.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new RateSourceError(`sent more than ${MAX_BYTES / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
