import { eitherSignal } from './either-signal.ts';

/**
 * Sends a request, and aborts it when the browser goes offline. A request that the gateway holds would not notice the lost
 * connection, and the page would wait for its answer.
 */
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
