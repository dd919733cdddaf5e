import type { NewPaymentLink, PaymentLink, PaymentLinkChange, PaymentLinkPage, PaymentLinkQuery } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { type List, listOf } from './list.ts';

const PATH = '/v1/payment-links';

export function paymentLinksOf(connection: Connection) {
  const one = async (answer: Promise<{ readonly paymentLink: PaymentLink }>) => (await answer).paymentLink;
  return {
    /**
     * Creates a link to a page where anybody can pay.
     *
     * @example
     * const { url } = await till.paymentLinks.create({
     *   description: 'Coffee tasting on Saturday',
     *   amount: { unit: 'iso4217/USD', value: '2500' },
     *   stock: 20,
     * });
     * console.log(url);
     */
    create(link: NewPaymentLink, options?: CallOptions): Promise<PaymentLink> {
      return one(connection.ask({ method: 'POST', path: PATH, body: link, isOfMerchant: true }, options));
    },

    /**
     * A payment link, with the number of pieces of its stock that are sold or reserved.
     *
     * @example
     * const { taken, stock } = await till.paymentLinks.get(linkId);
     * console.log(taken, stock);
     */
    get(id: string, options?: CallOptions): Promise<PaymentLink> {
      return one(connection.ask({ method: 'GET', path: `${PATH}/${segment(id)}`, isOfMerchant: true }, options));
    },

    /**
     * The links of the merchant, newest first.
     *
     * @example
     * for await (const { url, status } of till.paymentLinks.list()) console.log(url, status);
     */
    list(query: PaymentLinkQuery = {}, options?: CallOptions): List<PaymentLinkPage, PaymentLink> {
      const call = { path: PATH, query: { ...query }, isOfMerchant: true };
      return listOf(connection, call, ({ paymentLinks }) => paymentLinks, options);
    },

    /**
     * Changes the text, stock, end, status or picture of a link.
     *
     * @example
     * await till.paymentLinks.update(linkId, { status: 'inactive' });
     */
    update(id: string, change: PaymentLinkChange, options?: CallOptions): Promise<PaymentLink> {
      const request = { method: 'PATCH', path: `${PATH}/${segment(id)}`, body: change, isOfMerchant: true } as const;
      return one(connection.ask(request, options));
    },
  };
}
