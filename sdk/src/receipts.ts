import type { ReceiptKeys, SignedReceipt } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';

export function receiptsOf(connection: Connection) {
  return {
    /**
     * The receipt of a succeeded payment: all facts to verify it on the chain, signed by the operator, and the URL of the
     * receipt's page for the payer. Anybody who knows the URL can see the page.
     *
     * @example
     * const { receipt, signature, pageUrl } = await till.receipts.get(paidId);
     * console.log(receipt.transaction, signature.keyId, pageUrl);
     */
    get(paymentId: string, options?: CallOptions): Promise<SignedReceipt> {
      return connection.ask(
        { method: 'GET', path: `/v1/payments/${segment(paymentId)}/receipt`, isOfMerchant: true },
        options,
      );
    },

    /**
     * The public keys that verify receipts. The key that signs now comes first.
     *
     * @example
     * const { keys } = await till.receipts.keys();
     * console.log(keys[0].kid);
     */
    keys(options?: CallOptions): Promise<ReceiptKeys> {
      return connection.ask({ method: 'GET', path: '/.well-known/till-receipts.json' }, options);
    },
  };
}
