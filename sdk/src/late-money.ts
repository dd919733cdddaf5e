import type { LateMoney, LateMoneyPage, LateMoneyQuery, NewReturn } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { type List, listOf } from './list.ts';

const PATH = '/v1/late-money';

export function lateMoneyOf(connection: Connection) {
  return {
    /**
     * Late money of the merchant, newest first: money that arrived and did not count for its payment.
     *
     * @example
     * for await (const { id, amount, reason } of till.lateMoney.list({ status: ['unclaimed'] })) {
     *   console.log(id, amount.value, reason);
     * }
     */
    list(query: LateMoneyQuery = {}, options?: CallOptions): List<LateMoneyPage, LateMoney> {
      const call = { path: PATH, query: { ...query }, isOfMerchant: true };
      return listOf(connection, call, ({ lateMoney }) => lateMoney, options);
    },

    /**
     * Late money by its id, with the reason if its return is waiting.
     *
     * @example
     * const { status, waitingFor } = await till.lateMoney.get(lateId);
     * console.log(status, waitingFor?.what);
     */
    get(id: string, options?: CallOptions): Promise<LateMoney> {
      return connection.ask({ method: 'GET', path: `${PATH}/${segment(id)}`, isOfMerchant: true }, options);
    },

    /**
     * Returns late money to an account that the payer named, after a cooling-off period.
     *
     * @example
     * const { status } = await till.lateMoney.return(lateId, { destination: payerAccount });
     * console.log(status);
     */
    return(id: string, request: NewReturn, options?: CallOptions): Promise<LateMoney> {
      const path = `${PATH}/${segment(id)}/return`;
      return connection.ask({ method: 'POST', path, body: request, isOfMerchant: true }, options);
    },
  };
}
