import type { AcceptedRefund, NewRefund } from './api-types.ts';
import type { CallOptions, Connection } from './connection.ts';

export function refundsOf(connection: Connection) {
  return {
    /**
     * Refunds a payment that has succeeded. `refund` in the payment shows the progress.
     *
     * @example
     * await till.refunds.create({ paymentId: paidId }, { idempotencyKey: 'refund-order-42' });
     * const { refund } = await till.payments.get(paidId);
     * console.log(refund.status);
     */
    create(refund: NewRefund, options?: CallOptions): Promise<AcceptedRefund> {
      return connection.ask({ method: 'POST', path: '/v1/refunds', body: refund, isOfMerchant: true }, options);
    },
  };
}
