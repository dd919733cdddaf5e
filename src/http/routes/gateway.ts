import cors from '@fastify/cors';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { visibleStatus } from '../../domain/payment.ts';
import type { PaymentReader } from '../../store/payment-reader.ts';
import { type Payment, type PaymentGlance, stateOf } from '../../store/payments.ts';
import { cancelPayment } from '../cancel.ts';
import { PREFLIGHT } from '../cross-origin.ts';
import type { App, HttpDeps } from '../deps.ts';
import { paymentIdIn } from '../payment-id.ts';
import { CancelledBody, nullable } from '../schemas.ts';
import { NOT_MODIFIED, StatusQuery, sendStatus } from '../status.ts';
import { AmountBody, viewAmount } from '../views/amount.ts';
import { PaymentStatusField, StatusBody } from '../views/payment.ts';
import { PaymentParams, paymentNotFound } from './payments.ts';

const ACCESS = { scheme: 'gateway', scope: 'gateway' } as const;

/** The routes wallets and the checkout call: the unguessable payment id is what lets them. */
export async function gatewayRoutes(app: App, deps: HttpDeps): Promise<void> {
  await app.register(cors, PREFLIGHT);

  app.get(
    '/payment/:id',
    { schema: GET, config: { access: ACCESS, errors: ['payment_not_found'] } },
    async (request) => {
      const payment = await findPayable(deps, deps.readPayment, request);
      const merchant = await deps.merchants.get(payment.merchantId);
      return {
        status: visibleStatus(stateOf(payment), deps.world.clock.nowMs()),
        amount: viewAmount(payment.amountUnit, payment.amountValue, payment.amountDecimals),
        expiresAt: payment.expiresAt.getTime() / 1000,
        merchant: { name: merchant?.name ?? '', iconUrl: merchant?.iconUrl ?? null },
        buyer: viewBuyer(payment),
      };
    },
  );

  app.get(
    '/payment/:id/status',
    { schema: STATUS, config: { access: ACCESS, errors: ['payment_not_found'] } },
    (request, reply) => sendStatus(deps, request, reply, () => findPayable(deps, deps.glanceAtPayment, request)),
  );

  app.post(
    '/payment/:id/cancel',
    { schema: CANCEL, config: { access: ACCESS, errors: ['payment_not_found', 'invalid_state'], ignoresBody: true } },
    async (request) => {
      const { id } = await findPayable(deps, deps.readPayment, request);
      return cancelPayment(deps, { paymentId: id, by: 'user', actor: callerName(request) });
    },
  );
}

/** The payment the path names, if it is of the caller's mode. */
async function findPayable<Row extends PaymentGlance>(
  { config }: HttpDeps,
  read: PaymentReader<Row>,
  request: FastifyRequest<{ Params: { id: string } }>,
): Promise<Row> {
  const id = paymentIdIn(request.params.id, config.publicUrl);
  const payment = id === undefined ? undefined : await read(id);
  if (payment === undefined || payment.mode !== request.caller?.mode) throw paymentNotFound();
  return payment;
}

function callerName({ caller }: FastifyRequest): string {
  return caller?.via === 'key' ? `key:${caller.key.id}` : `app:${caller?.app.id}`;
}

function viewBuyer({ buyerAccount, buyerName, buyerIcon }: Payment) {
  if (buyerAccount === null) return null;
  return { accountCaip10: buyerAccount, accountProviderName: buyerName ?? 'Wallet', accountProviderIcon: buyerIcon };
}

const TAGS = ['Gateway'];

const GET = {
  tags: TAGS,
  summary: 'Get what the payer needs to begin',
  params: PaymentParams,
  response: {
    200: Type.Object(
      {
        status: PaymentStatusField,
        amount: AmountBody,
        expiresAt: Type.Integer({ minimum: 0, description: 'Seconds since the epoch.' }),
        merchant: Type.Object({ name: Type.String(), iconUrl: nullable(Type.String()) }),
        buyer: Type.Unsafe<ReturnType<typeof viewBuyer>>({
          ...Type.Object({
            accountCaip10: Type.String(),
            accountProviderName: Type.String(),
            accountProviderIcon: nullable(Type.String()),
          }),
          type: ['object', 'null'],
        }),
      },
      { description: 'The payment, for the payer.' },
    ),
  },
};

const STATUS = {
  tags: TAGS,
  summary: 'Get the status of a payment, as the payer',
  description: 'As the route for merchants.',
  params: PaymentParams,
  querystring: StatusQuery,
  response: { 200: StatusBody, 304: NOT_MODIFIED },
};

const CANCEL = {
  tags: TAGS,
  summary: 'Cancel a payment, as the payer',
  description: 'Only while nothing is signed. The body is ignored.',
  params: PaymentParams,
  response: { 200: CancelledBody },
};
