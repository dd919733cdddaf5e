import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Confirmed, confirmPayment } from '../../actions/paying/confirm-payment.ts';
import { fetchActions } from '../../actions/paying/fetch-actions.ts';
import { handOutFirst } from '../../actions/paying/hand-out-first.ts';
import { listOptions } from '../../actions/paying/list-options.ts';
import { paymentExpired } from '../../actions/paying/option-refusals.ts';
import { seekTransaction } from '../../actions/paying/seek-transaction.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { visibleStatus } from '../../domain/payment.ts';
import { ApiError } from '../../errors.ts';
import { type PaymentGlance, stateOf } from '../../store/payments/payments.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerName, findPayable, GATEWAY_ACCESS, isWithoutFetch, walletOf } from '../entry/gateway-caller.ts';
import { readPayerAccounts } from '../entry/payer-accounts.ts';
import { paymentIdIn } from '../entry/payment-id.ts';
import { nullable } from '../schemas.ts';
import { etagOf, type HeldRequest, holdRequest, StatusQuery } from '../status/status.ts';
import { OptionBody, viewOption, WalletRpcActionBody } from '../views/options.ts';
import { PayerInfoBody, viewForPayer } from '../views/payer-info.ts';
import { StatusBody, viewStatus } from '../views/payment.ts';
import { PaymentParams, paymentNotFound } from './payments.ts';

export function payingRoutes(app: App, deps: HttpDeps): void {
  // A path that cannot name a payment is refused before the body is read.
  const preValidation = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    const { id } = request.params as { id: string };
    done(paymentIdIn(id, deps.config.publicUrl) === undefined ? paymentNotFound() : undefined);
  };
  app.post(
    '/payment/:id/options',
    {
      schema: OPTIONS,
      preValidation,
      config: {
        access: GATEWAY_ACCESS,
        priority: 'money',
        takesTurns: true,
        errors: [...COMMON, ...CHOSEN],
      },
    },
    async (request, reply) => {
      const payment = await findPayable(deps, deps.readPayment, request);
      const served = servedNetworks(deps, payment.mode).map(({ chain }) => chain.network.chainId);
      const accounts = readPayerAccounts(new Set(served), request.body.accounts);
      const isInfoAsked = request.query.includePaymentInfo === true;
      const status = visibleStatus(stateOf(payment), deps.world.clock.nowMs());
      // With `includePaymentInfo`, the answer itself shows that the payment has expired. Without it, only this error shows the expiry.
      if (status === 'expired' && !isInfoAsked) throw paymentExpired();
      const isPayable = status === 'requires_action';
      if (isPayable) deps.surveyLimit.take(request, reply, accounts.length);
      if (isPayable) deps.optionAsks.note(payment.id);
      const found = isPayable ? await listOptions(deps, { payment, accounts }) : [];
      const options = isWithoutFetch(request)
        ? await handOutFirst(deps, { payment, options: found, buyer: walletOf(request) })
        : found;
      return {
        options: options.map((option) => viewOption(deps.config, option)),
        info: isInfoAsked ? await viewForPayer(deps, payment) : null,
        collectData: null,
      };
    },
  );

  app.post(
    '/payment/:id/fetch',
    {
      schema: FETCH,
      preValidation,
      config: { access: GATEWAY_ACCESS, priority: 'money', errors: [...COMMON, ...CHOSEN] },
    },
    async (request) => {
      const payment = await findPayable(deps, deps.readPayment, request);
      const { optionId, data } = request.body;
      const requests = await fetchActions(deps, { payment, optionId, data, buyer: walletOf(request) });
      return {
        actions: requests.map((data) => ({ type: 'walletRpc' as const, data: { ...data, params: [...data.params] } })),
      };
    },
  );

  app.post(
    '/payment/:id/confirm',
    {
      schema: CONFIRM,
      preValidation,
      config: { access: GATEWAY_ACCESS, priority: 'money', errors: [...COMMON, ...CHOSEN] },
    },
    async (request, reply) => {
      const { optionId, results } = request.body;
      const confirmed = await confirmPayment(deps, {
        payment: await findPayable(deps, deps.readPayment, request),
        optionId,
        results,
        buyer: walletOf(request),
        actor: callerName(request),
        onUnproved: () => deps.surveyLimit.take(request, reply, 1),
      });
      const { failureCode: _, ...answer } = viewStatus(
        deps.config,
        await follow(deps, { request, reply }, confirmed),
        deps.world.clock.nowMs(),
      );
      return answer;
    },
  );
}

interface Confirming {
  readonly request: FastifyRequest<{ Params: { id: string }; Querystring: { maxPollMs?: number | null } }>;
  readonly reply: FastifyReply;
}

/**
 * Follows a confirmed payment. For a payment in native coin, first searches for the transaction that the wallet named. Then holds
 * the answer (long-polling) if the request asks for that.
 */
async function follow(deps: HttpDeps, confirming: Confirming, { payment, sought }: Confirmed): Promise<PaymentGlance> {
  const glance = () => findPayable(deps, deps.glanceAtPayment, confirming.request);
  if (sought === undefined) return held(deps, { ...confirming, payment, find: glance });
  const find = async () => (await seekTransaction(deps, sought)) ?? glance();
  const seen = await held(deps, { ...confirming, payment, find, forMs: SEEK_MS, everyMs: SEEK_EVERY_MS });
  return held(deps, { ...confirming, payment: seen, find: glance });
}

/**
 * Holds the answer while the payment's status does not change. The confirmation is already stored, so if the request may not be
 * held, the answer is sent at once.
 */
async function held(deps: HttpDeps, input: Omit<HeldRequest, 'since'>): Promise<PaymentGlance> {
  const { payment } = input;
  try {
    return await holdRequest(deps, { ...input, since: etagOf(payment, deps.world.clock.nowMs()) });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rate_limited') return payment;
    throw error;
  }
}

/** The longest search for a transaction in native coin. Endpoints show it within seconds of its broadcast, or with its block. */
const SEEK_MS = 10_000;
const SEEK_EVERY_MS = 1_000;

const TAGS = ['Gateway'];
const COMMON = ['payment_not_found'] as const;
const CHOSEN = ['invalid_state', 'payment_expired', 'quote_expired', 'sanctioned_user', 'executor_not_found'] as const;

const OptionId = Type.String({ minLength: 1, description: 'The `id` of an option of this payment.' });

const OPTIONS = {
  tags: TAGS,
  operationId: 'listPaymentOptions',
  summary: 'List the ways in which accounts can pay',
  description:
    'Each call returns new option ids; earlier ones stay valid until they expire. Accounts of networks that are not served, and the zero address, are ignored; a malformed account of a served network is refused. A payment that cannot be paid any more has no options; its info shows the reason. For a client that never fetches (`Sdk-Name: @walletconnect/pay-cli`), a first option in native coin contains its request, as if it was fetched.',
  params: PaymentParams,
  querystring: Type.Object({
    includePaymentInfo: Type.Optional(nullable(Type.Boolean({ description: 'True to include `info`.' }))),
  }),
  body: Type.Object({
    accounts: Type.Array(Type.String(), {
      minItems: 1,
      description: 'CAIP-10. The first 100 of served networks count.',
      examples: [['eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed']],
    }),
    refresh: Type.Optional(nullable(Type.Array(Type.String(), { description: 'Accepted and ignored.' }))),
  }),
  response: {
    200: Type.Object(
      {
        options: Type.Array(OptionBody, { description: 'The best first.' }),
        info: Type.Unsafe<Awaited<ReturnType<typeof viewForPayer>> | null>({
          ...PayerInfoBody,
          type: ['object', 'null'],
        }),
        collectData: Type.Null({ description: 'No data of the payer is collected.' }),
      },
      { description: 'The options.' },
    ),
  },
};

const FETCH = {
  tags: TAGS,
  operationId: 'fetchOptionActions',
  summary: 'Fetch the wallet requests of an option',
  description: 'For options with a `build` action. A native action may be carried out from then on.',
  params: PaymentParams,
  body: Type.Object({
    optionId: OptionId,
    data: Type.String({ description: 'The `data` of the `build` action.' }),
  }),
  response: {
    200: Type.Object(
      { actions: Type.Array(WalletRpcActionBody, { description: 'The actions of the wallet, in order.' }) },
      { description: 'The requests.' },
    ),
  },
};

const { failureCode: _, ...ConfirmedFields } = StatusBody.properties;

const CONFIRM = {
  tags: TAGS,
  operationId: 'confirmPayment',
  summary: 'Confirm a payment with the wallet’s signature or transaction',
  description:
    'May be repeated: the same option with the same results gets the present status. A transaction in coin is looked for during 10 s: the payment is `processing` once it is seen. With `maxPollMs` the answer is held until the status changes, at most 25 s.',
  params: PaymentParams,
  querystring: StatusQuery,
  body: Type.Object({
    optionId: OptionId,
    results: Type.Array(Type.Unknown(), {
      description:
        'One `{ "type": "walletRpc", "data": [result] }` for each action, in order; or one entry whose `data` holds the results of all actions.',
    }),
    collectedData: Type.Optional(Type.Unknown({ description: 'Accepted and ignored.' })),
  }),
  response: { 200: Type.Object(ConfirmedFields, { description: 'The status.' }) },
};
