/** Passes an API key to the API reference by messages between two windows of this origin. No URL or storage contains the key. */

const READY = 'till.reference-ready';
const HANDED_OVER_WITHIN_MS = 60_000;

/** Only test keys may be inserted into examples, because examples are copied and shown to others. */
export function isTestKey(text: string): boolean {
  return /^till_test_[0-9A-Za-z]{20,60}$/.test(text);
}

/** Opens the reference in another tab, which gets the key when it is ready. */
export function openReference(key: string): void {
  const tab = open('/docs', '_blank');
  if (tab === null) return;
  const done = new AbortController();
  const onMessage = ({ origin, source, data }: MessageEvent) => {
    if (origin !== location.origin || source !== tab || data !== READY) return;
    tab.postMessage({ key }, location.origin);
    done.abort();
  };
  addEventListener('message', onMessage, { signal: done.signal });
  setTimeout(() => done.abort(), HANDED_OVER_WITHIN_MS);
}

/** Takes a key from the window that opened this one, if that window has the same origin. */
export function takeKey(onKey: (key: string) => void): void {
  const from: Window | null = opener;
  if (from === null) return;
  addEventListener('message', ({ origin, source, data }: MessageEvent) => {
    if (origin !== location.origin || source !== from) return;
    const key: unknown = data?.key;
    if (typeof key === 'string' && isTestKey(key)) onKey(key);
  });
  from.postMessage(READY, location.origin);
}
