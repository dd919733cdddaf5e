import { Type } from 'typebox';
import { requestRefund } from '../../actions/outgoing/refund/request-refund.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, merchantOf, onBehalfOf } from '../entry/access.ts';
import { idempotencyKeyOf, idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import { checkRefundRights } from '../entry/refund-rights.ts';

const WRITE = { scheme: 'partner', merchant: 'header', scope: 'refunds:write', takesDeleted: true } as const;

export async function refundRoutes(app: App, deps: HttpDeps): Promise<void> {
  const config = {
    access: WRITE,
    priority: 'money',
    idempotency: 'accepted',
    errors: ['payment_not_found', 'payment_not_succeeded', 'already_refunded', 'idempotency_conflict'],
  } as const;
  app.post('/v1/refunds', { schema: REFUND, config }, async (request, reply) => {
    const { paymentId } = request.body;
    const input = { paymentId, merchantId: merchantOf(request).id, actor: actorOf(request), isOperators: false };
    await checkRefundRights(deps, request, paymentId);
    const hasKey = idempotencyKeyOf(request) !== undefined;
    const idempotent = hasKey ? idempotentRequest(request, [paymentId]) : undefined;
    const answer = await requestRefund(onBehalfOf(request, deps), input, idempotent, (id) => ({
      status: 200,
      body: { paymentId: id },
    }));
    return sendAnswer(deps, reply, answer);
  });
}

const REFUND = {
  tags: ['Refunds'],
  summary: 'Refund a payment',
  description:
    'Gives back everything the payer paid, in the asset it was paid with, to the account that paid. A payment is refunded once. The answer confirms that the refund was accepted; `refund` in the payment shows its progress.',
  body: Type.Object(
    {
      paymentId: Type.String({
        minLength: 1,
        maxLength: 64,
        pattern: '^pay_[A-Za-z0-9]+$',
        'x-rule': 'must be pay_ and letters or digits',
        description: 'The payment, which must have succeeded.',
        examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
      }),
      amount: Type.Optional(
        Type.Unsafe<never>({
          not: {},
          'x-rule': 'cannot be given: a payment is refunded in full, so leave it out',
          description: 'Not taken: a payment is refunded in full.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  response: {
    200: Type.Object({ paymentId: Type.String() }, { description: 'The refund was accepted.' }),
  },
};
