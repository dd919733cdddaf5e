import { isId } from '../../domain/ids.ts';

/**
 * The payment id in the path of a gateway route. Wallets send the id. For hosts that they do not know, they send the whole link,
 * percent-encoded once more. A URL of another host is not a payment of ours.
 */
export function paymentIdIn(parameter: string, publicUrl: string): string | undefined {
  if (isId('pay_', parameter)) return parameter;
  const url = URL.parse(decoded(parameter));
  if (url === null || url.origin !== publicUrl) return undefined;
  const id =
    url.searchParams.get('pid') || plainId(url.pathname) || url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  return isId('pay_', id) ? id : undefined;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function gatewayUrl(publicUrl: string, paymentId: string): string {
  return `${publicUrl}/?pid=${paymentId}`;
}

export const PLAIN_PATH = '/c/';

/**
 * The link for QR codes and apps. Wallets built on WalletKit treat every link that contains `pay_`, `pay.` or `pay=` as a
 * payment of another service, and ask that service for it. This link contains none of them.
 */
export function plainUrl(publicUrl: string, paymentId: string): string {
  return `${publicUrl}${PLAIN_PATH}${paymentId.slice('pay_'.length)}`;
}

function plainId(path: string): string | undefined {
  return path.startsWith(PLAIN_PATH) ? `pay_${path.slice(PLAIN_PATH.length)}` : undefined;
}
