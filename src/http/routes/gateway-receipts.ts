import { Type } from 'typebox';
import { mailReceipt } from '../../actions/paying/mail-receipt.ts';
import { findShownById, RECEIPT_BY_ID_HOURS } from '../../actions/paying/shown-by-id.ts';
import { ApiError } from '../../errors.ts';
import type { App, HttpDeps } from '../deps.ts';
import { findPayable, GATEWAY_ACCESS } from '../entry/gateway-caller.ts';
import { addressGroup } from '../entry/rate-limit.ts';
import { receiptUrl } from '../receipts/receipt-url.ts';
import { EmailAddress, MailLanguage } from '../schemas.ts';
import { viewWithTransaction } from '../views/payer-info.ts';
import { PaymentParams } from './payments.ts';

export function gatewayReceiptRoutes(app: App, deps: HttpDeps): void {
  app.post(
    '/payment/:id/receipt-email',
    {
      schema: MAIL,
      config: { access: GATEWAY_ACCESS, errors: ['payment_not_found', 'invalid_state'] },
    },
    async (request, reply) => {
      const payment = await findPayable(deps, deps.readPayment, request);
      if (deps.config.smtp === undefined) throw new ApiError('invalid_state', 'This gateway sends no mail.');
      const { leadsToReceipt } = await findShownById(deps.db.sql, payment, deps.world.clock.nowMs());
      if (!leadsToReceipt) throw new ApiError('invalid_state', BY_MERCHANT);
      const { email: recipient, language = 'en' } = request.body;
      // Only for wallet apps is the limit counted per client address: a partner's server requests receipts for many payers from
      // one address.
      const asked = request.caller?.via === 'app' ? [addressGroup(request.ip)] : [];
      const mail = async () => {
        const { merchant, transaction } = await viewWithTransaction(deps, payment);
        await mailReceipt(deps, {
          payment,
          recipient,
          language,
          merchantName: merchant.name,
          pageUrl: receiptUrl(deps, payment.id),
          explorerUrl: transaction?.explorerUrl ?? null,
        });
      };
      await deps.mailedReceipts.run(asked, mail, (outcome) => 'result' in outcome);
      return reply.code(202).send({ status: 'queued' as const });
    },
  );
}

const BY_MERCHANT = 'The receipt of this payment is mailed no more. The merchant has its address.';

const MAIL = {
  tags: ['Gateway'],
  operationId: 'mailReceipt',
  summary: 'Mail a receipt to the payer',
  description: `Of a succeeded payment, for ${RECEIPT_BY_ID_HOURS} hours, if the gateway has a server for mail. The mail is sent within seconds, or tried for a day. A second request for the same address within ten minutes sends no second mail. A payment has five receipts a day, an inbox twenty and a merchant 2,000. An address without a key sends twenty in ten minutes.`,
  params: PaymentParams,
  body: Type.Object(
    {
      email: { ...EmailAddress, description: 'The address of the payer.' } as typeof EmailAddress,
      language: Type.Optional(MailLanguage),
    },
    { additionalProperties: false },
  ),
  response: { 202: Type.Object({ status: Type.Literal('queued') }, { description: 'The mail is queued.' }) },
};
