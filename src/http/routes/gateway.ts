import cors from '@fastify/cors';
import { cancelPayment } from '../../actions/paying/cancel-payment.ts';
import type { App, HttpDeps } from '../deps.ts';
import { PREFLIGHT } from '../entry/cross-origin.ts';
import { callerName, findPayable, GATEWAY_ACCESS } from '../entry/gateway-caller.ts';
import { CancelledBody } from '../schemas.ts';
import { NOT_MODIFIED, StatusQuery, sendStatus } from '../status/status.ts';
import { PayerPaymentBody, viewWithTransaction } from '../views/payer-info.ts';
import { StatusBody } from '../views/payment.ts';
import { addressRoutes } from './gateway-address.ts';
import { payingRoutes } from './gateway-paying.ts';
import { gatewayReceiptRoutes } from './gateway-receipts.ts';
import { signingRoutes } from './gateway-refunds.ts';
import { PaymentParams } from './payments.ts';

/** The routes for wallets and the checkout. The unguessable payment id is their capability. */
export async function gatewayRoutes(app: App, deps: HttpDeps): Promise<void> {
  await app.register(cors, PREFLIGHT);

  app.get(
    '/payment/:id',
    { schema: GET, config: { access: GATEWAY_ACCESS, priority: 'money', errors: ['payment_not_found'] } },
    async (request) => {
      const payment = await findPayable(deps, deps.readPayment, request);
      if (payment.status === 'requires_action') deps.openings.note(payment.id);
      return viewWithTransaction(deps, payment);
    },
  );

  app.get(
    '/payment/:id/status',
    { schema: STATUS, config: { access: GATEWAY_ACCESS, priority: 'money', errors: ['payment_not_found'] } },
    (request, reply) => sendStatus(deps, request, reply, () => findPayable(deps, deps.glanceAtPayment, request)),
  );

  app.post(
    '/payment/:id/cancel',
    {
      schema: CANCEL,
      config: {
        access: GATEWAY_ACCESS,
        priority: 'money',
        errors: ['payment_not_found', 'invalid_state'],
        ignoresBody: true,
      },
    },
    async (request) => {
      const { id } = await findPayable(deps, deps.readPayment, request);
      return cancelPayment(deps, { paymentId: id, by: 'user', actor: callerName(request) });
    },
  );

  payingRoutes(app, deps);
  addressRoutes(app, deps);
  signingRoutes(app, deps);
  gatewayReceiptRoutes(app, deps);
}

const TAGS = ['Gateway'];

const GET = {
  tags: TAGS,
  operationId: 'getPaymentAsPayer',
  summary: 'Get the payment for its payer',
  description: 'What the payer needs to pay, and the outcome: no details of the merchant’s own.',
  params: PaymentParams,
  response: { 200: PayerPaymentBody },
};

const STATUS = {
  tags: TAGS,
  operationId: 'getPaymentStatusAsPayer',
  summary: 'Get the status of a payment, as the payer',
  description: 'Like the route for merchants.',
  params: PaymentParams,
  querystring: StatusQuery,
  response: { 200: StatusBody, 304: NOT_MODIFIED },
};

const CANCEL = {
  tags: TAGS,
  operationId: 'cancelPaymentAsPayer',
  summary: 'Cancel a payment, as the payer',
  description: 'Only while nothing is signed. The body is ignored.',
  params: PaymentParams,
  response: { 200: CancelledBody },
};
