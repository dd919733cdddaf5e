import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { refundNotFound } from '../../actions/outgoing/refund/retry-refund.ts';
import { acceptSignature } from '../../actions/outgoing/refund/signed/accept-signature.ts';
import { offerRefund } from '../../actions/outgoing/refund/signed/offer-refund.ts';
import { findShown } from '../../actions/outgoing/refund/signed/signable-refund.ts';
import { paymentIdOf } from '../../domain/ids.ts';
import { openSignCode } from '../../domain/sign-code.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerName, GATEWAY_ACCESS } from '../entry/gateway-caller.ts';
import { WalletRpcActionBody } from '../views/options.ts';
import { SignerRefundBody, viewForSigner } from '../views/signed-refund.ts';

/**
 * The routes of the page where a merchant's account signs for a refund. They require the secret in the link of the page: while a
 * request to sign is open, the refund is not paid from a float. Only a signature of the account that received the payment counts.
 */
export function signingRoutes(app: App, deps: HttpDeps): void {
  const errors = ['payment_not_found'] as const;
  const config = { access: GATEWAY_ACCESS, priority: 'money', errors } as const;
  const refused = [...errors, 'invalid_state', 'sanctioned_user', 'executor_not_found'] as const;

  app.get('/refund/:id', { schema: GET, config }, async (request) => {
    const { refundId, payment } = await openedBy(deps, request);
    return viewForSigner(deps, payment, await findShown(deps, refundId));
  });

  app.post(
    '/refund/:id/actions',
    { schema: ACTIONS, config: { ...config, takesTurns: true, ignoresBody: true, errors: refused } },
    async (request) => {
      const { refundId } = await openedBy(deps, request);
      const { requests, expiresAt } = await offerRefund(deps, refundId);
      const actions = requests.map((data) => ({
        type: 'walletRpc' as const,
        data: { ...data, params: [...data.params] },
      }));
      return { actions, expiresAt: Math.floor(expiresAt.getTime() / 1000) };
    },
  );

  app.post(
    '/refund/:id/confirm',
    { schema: CONFIRM, config: { ...config, errors: [...refused, 'quote_expired'] } },
    async (request) => {
      const { refundId, payment } = await openedBy(deps, request);
      const { result } = request.body;
      const signed = { refundId, result, actor: callerName(request) };
      return viewForSigner(deps, payment, await acceptSignature(deps, signed));
    },
  );
}

/** The refund that the code in the path names, and its payment. Throws if the payment does not have the caller's mode. */
async function openedBy(deps: HttpDeps, request: FastifyRequest<{ Params: { id: string } }>) {
  const refundId = openSignCode(deps.signingKeys, request.params.id);
  const payment = refundId === undefined ? undefined : await deps.readPayment(paymentIdOf(refundId));
  if (refundId === undefined || payment === undefined || payment.mode !== request.caller?.mode) {
    throw refundNotFound(request.params.id);
  }
  return { refundId, payment };
}

const TAGS = ['Gateway'];

const RefundParams = Type.Object({
  id: Type.String({
    description: 'The refund and the secret of its link: `rfnd_` and the last part of `signUrl`.',
  }),
});

const GET = {
  tags: TAGS,
  operationId: 'getRefundToSign',
  summary: 'Get a refund that the merchant’s account can sign for',
  description: 'For the page at `signUrl` of the refund.',
  params: RefundParams,
  response: { 200: SignerRefundBody },
};

const ACTIONS = {
  tags: TAGS,
  operationId: 'fetchRefundActions',
  summary: 'Ask for the wallet requests that pay a refund',
  description:
    'For the wallet of the account that received the payment. Until the request to sign has run out, no float pays the refund, and every call returns the same request. The body is ignored.',
  params: RefundParams,
  response: {
    200: Type.Object(
      {
        actions: Type.Array(WalletRpcActionBody, { description: 'The actions of the wallet, in order.' }),
        expiresAt: Type.Integer({ minimum: 0, description: 'Seconds since the epoch. Confirm before.' }),
      },
      { description: 'The requests.' },
    ),
  },
};

const CONFIRM = {
  tags: TAGS,
  operationId: 'confirmRefund',
  summary: 'Pay a refund with the signature of the merchant’s account',
  description: 'May be repeated. A transaction in coin is a hint: repeat the request until the status changes.',
  params: RefundParams,
  body: Type.Object(
    {
      result: Type.String({
        maxLength: 2 + 2 * 8_192,
        pattern: '^0x(?:[0-9a-fA-F]{2}){32,}$',
        'x-rule': 'must be a signature or the hash of a transaction, in hex',
        description: 'The wallet’s answer to the last action.',
      }),
    },
    { additionalProperties: false },
  ),
  response: { 200: SignerRefundBody },
};
