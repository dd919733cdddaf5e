import { makeReceipt } from '../../actions/paying/make-receipt.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { HttpDeps } from '../deps.ts';
import { receiptUrl } from './receipt-url.ts';

/** The signed receipt, and the URL of its page. The signature does not cover the URL. */
export async function signedReceipt(deps: HttpDeps, payment: Payment) {
  const { receipt, signature } = await makeReceipt(deps, payment);
  return { receipt, signature, pageUrl: receiptUrl(deps, payment.id) };
}
