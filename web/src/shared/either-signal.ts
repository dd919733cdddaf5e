/**
 * A signal that aborts when either of two signals does. The browsers inside wallet apps are often some years old and lack
 * `AbortSignal.any`.
 */
export function eitherSignal(first: AbortSignal, second: AbortSignal): AbortSignal {
  if (typeof AbortSignal.any === 'function') return AbortSignal.any([first, second]);
  const either = new AbortController();
  for (const signal of [first, second]) {
    if (signal.aborted) either.abort();
    signal.addEventListener('abort', () => either.abort(), { once: true });
  }
  return either.signal;
}
