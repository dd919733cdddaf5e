import { eitherSignal } from './either-signal.ts';

/** A held request does not notice a lost connection: the page would seem to wait normally. */
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
