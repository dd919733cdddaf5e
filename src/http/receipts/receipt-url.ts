import type { KeyRing } from '../../domain/key-ring.ts';
import { isLinkSecret, linkSecret } from '../../domain/link-secret.ts';
import { PLAIN_PATH } from '../entry/payment-id.ts';

export interface ReceiptUrlDeps {
  readonly config: { readonly publicUrl: string };
  /** URLs of receipts are kept for years, so their secrets are made with keys that outlive a rotation. */
  readonly subjectKeys: KeyRing;
}

/** The route of the page. Its files have the same URL with an extension. */
export const RECEIPT_ROUTE = `${PLAIN_PATH}:id/:secret/receipt`;
/** The route of earlier versions, without a secret. */
export const OLDER_RECEIPT_ROUTE = `${PLAIN_PATH}:id/receipt`;

/**
 * The URL of the receipt page. The id of a payment passes through wallets, logs and, with the first contracts, the chain. So
 * the id alone does not open the receipt: the URL has its own secret.
 */
export function receiptUrl({ config, subjectKeys }: ReceiptUrlDeps, paymentId: string): string {
  const secret = linkSecret(subjectKeys, textOf(paymentId));
  return `${config.publicUrl}${PLAIN_PATH}${paymentId.slice('pay_'.length)}/${secret}/receipt`;
}

export function isReceiptSecret({ subjectKeys }: ReceiptUrlDeps, paymentId: string, secret: string): boolean {
  return isLinkSecret(subjectKeys, textOf(paymentId), secret);
}

function textOf(paymentId: string): string {
  return `receipt of ${paymentId}`;
}
