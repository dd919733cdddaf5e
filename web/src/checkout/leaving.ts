import type { PaymentPage, PaymentStatus } from './page-state.ts';

/**
 * The URL to which the payer returns after the payment has ended, or null if the payer stays on the page. Only a succeeded payment
 * uses the success URL.
 */
export function wayBack({ checkout, paymentId }: PaymentPage, status: PaymentStatus): string | null {
  if (checkout === null) return null;
  return returnUrl(status === 'succeeded' ? checkout.successUrl : checkout.errorUrl, paymentId);
}

/** The shop's URL with the payment's id. The shop's query is kept byte for byte, as it may be signed. Null if it is not an HTTP URL. */
export function returnUrl(shopUrl: string, paymentId: string): string | null {
  const url = parsed(shopUrl);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null;
  const parameter = `payment_id=${encodeURIComponent(paymentId)}`;
  url.search = url.search === '' ? parameter : `${url.search}&${parameter}`;
  return url.href;
}

function parsed(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

interface Bridges {
  readonly ReactNativeWebView?: { postMessage(text: string): void };
  readonly AndroidWallet?: { onDataCollectionComplete?(text: string): void };
  readonly webkit?: {
    readonly messageHandlers?: { readonly payDataCollectionComplete?: { postMessage(message: unknown): void } };
  };
  readonly parent?: unknown;
  readonly opener?: unknown;
}

/**
 * Sends the outcome to an app that embeds the page. Any page may have opened this one, so the message contains no private data, and
 * the app must ask the gateway for the real status.
 */
export function notifyEmbedder(host: Window, isPaid: boolean): void {
  const message = isPaid
    ? { type: 'PAY_SUCCESS', success: true }
    : { type: 'PAY_FAILURE', success: false, error: 'not_paid' };
  const text = JSON.stringify(message);
  const { ReactNativeWebView, AndroidWallet, webkit } = host as Window & Bridges;
  const bridges = [
    () => ReactNativeWebView?.postMessage(text),
    () => AndroidWallet?.onDataCollectionComplete?.(text),
    () => webkit?.messageHandlers?.payDataCollectionComplete?.postMessage(message),
    () => host.parent !== host && host.parent.postMessage(message, '*'),
    () => (host.opener as Window | null)?.postMessage(message, '*'),
  ];
  for (const send of bridges) {
    try {
      send();
    } catch {
      // The app's bridge threw an error. Another bridge may work.
    }
  }
}
