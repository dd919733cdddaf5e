import type { PaymentPage, PaymentStatus } from './page-state.ts';

/** How the page says goodbye: to the shop by a redirect, to an app around it by a message. */

/** Where the payer goes at the end; null when the page is the end. Only a payment that was made is a success. */
export function wayBack({ checkout, paymentId }: PaymentPage, status: PaymentStatus): string | null {
  if (checkout === null) return null;
  return returnUrl(status === 'succeeded' ? checkout.successUrl : checkout.errorUrl, paymentId);
}

/**
 * A shop's address, with the payment's id appended. The shop's own query stays as it was written, byte for byte: it
 * may be signed. Null for anything a browser should not be sent to.
 */
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
 * Tells an app that embeds the page how it ended. Any page may have opened this one, so the message says nothing that is
 * not for everybody: an app asks the gateway before it believes it.
 */
export function tellEmbedder(host: Window, isPaid: boolean): void {
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
  for (const tell of bridges) {
    try {
      tell();
    } catch {
      // A broken bridge is the app's, and the next one may be the right one.
    }
  }
}
