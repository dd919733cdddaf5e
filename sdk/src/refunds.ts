import type { AcceptedRefund, NewRefund, Refund, RefundPage, RefundQuery } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { type List, listOf } from './list.ts';

const PATH = '/v1/refunds';

export function refundsOf(connection: Connection) {
  return {
    /**
     * Refunds a succeeded payment: `amount`, or everything that is not refunded yet. Give your own `idempotencyKey`, so that a repeated
     * call does not refund twice.
     *
     * @example
     * const { refundId } = await till.refunds.create(
     *   { paymentId: paidId, amount: { unit: 'iso4217/USD', value: '100' }, reason: 'One cup of three came back' },
     *   { idempotencyKey: 'return-1-of-order-42' },
     * );
     * console.log(refundId);
     */
    create(refund: NewRefund, options?: CallOptions): Promise<AcceptedRefund> {
      return connection.ask({ method: 'POST', path: PATH, body: refund, isOfMerchant: true }, options);
    },

    /**
     * A refund by its id, with the reason if it is waiting.
     *
     * @example
     * const { refunds } = await till.payments.get(paidId);
     * for (const { refundId } of refunds ?? []) {
     *   const { status, waitingFor } = await till.refunds.get(refundId);
     *   console.log(status, waitingFor?.what);
     * }
     */
    get(id: string, options?: CallOptions): Promise<Refund> {
      return connection.ask({ method: 'GET', path: `${PATH}/${segment(id)}`, isOfMerchant: true }, options);
    },

    /**
     * The refunds of the merchant, newest first.
     *
     * @example
     * for await (const { refundId, amount } of till.refunds.list({ paymentId: paidId })) {
     *   console.log(refundId, amount.value);
     * }
     */
    list(query: RefundQuery = {}, options?: CallOptions): List<RefundPage, Refund> {
      const call = { path: PATH, query: { ...query }, isOfMerchant: true };
      return listOf(connection, call, ({ refunds }) => refunds, options);
    },
  };
}
