import { eitherSignal } from './either-signal.ts';

/** Aborts a held request when the browser goes offline. The request would not notice, and the page would seem to wait. */
export async function untilOffline<T>(
  outside: EventTarget,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const onOffline = () => lost.abort();
  outside.addEventListener('offline', onOffline);
  try {
    return await ask(eitherSignal(signal, lost.signal));
  } finally {
    outside.removeEventListener('offline', onOffline);
  }
}
