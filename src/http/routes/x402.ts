import cors from '@fastify/cors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { notPayable, paymentExpired } from '../../actions/paying/option-refusals.ts';
import { type Authorized, acceptAuthorization } from '../../actions/paying/x402/accept-authorization.ts';
import { findInclusion } from '../../actions/paying/x402/find-inclusion.ts';
import { listRequirements } from '../../actions/paying/x402/list-requirements.ts';
import { isFinal, visibleStatus } from '../../domain/payment.ts';
import { EXTENSIONS, headerText, readPaymentHeader, X402_VERSION } from '../../domain/x402.ts';
import { ApiError, validationError } from '../../errors.ts';
import { shiftOf } from '../../runtime/shifted-clock.ts';
import { isPaidInto } from '../../store/chain/deposit-progress.ts';
import { type Payment, type PaymentGlance, stateOf } from '../../store/payments/payments.ts';
import type { App, HttpDeps } from '../deps.ts';
import { PREFLIGHT } from '../entry/cross-origin.ts';
import { headerOf } from '../entry/headers.ts';
import { paymentIdIn } from '../entry/payment-id.ts';
import { holdUntil } from '../status/hold-until.ts';
import { StatusBody, viewStatus } from '../views/payment.ts';
import { PaymentParams, paymentNotFound } from './payments.ts';

/** The longest time that a client waits for the block with its transfer. */
const HOLD_MS = 20_000;
const CHECK_EVERY_MS = 500;
const RETRY_AFTER_S = 2;

/**
 * A payment as an x402 resource, for programs that pay by themselves. A client is asked to pay (402) only while no
 * authorization that it has signed can be carried out. In every case of doubt it is asked to retry (503).
 */
export async function x402Routes(app: App, deps: HttpDeps): Promise<void> {
  await app.register(cors, PREFLIGHT);

  app.get(
    '/:id',
    {
      schema: X402,
      config: {
        priority: 'money',
        errors: [
          'payment_not_found',
          'params_validation',
          'invalid_state',
          'payment_expired',
          'sanctioned_user',
          'executor_not_found',
          'idempotency_conflict',
        ],
      },
    },
    async (request, reply) => {
      const visit = { request, reply };
      const payment = await findPayment(deps, request);
      const header = headerOf(request, 'payment-signature');
      if (header === undefined) {
        if (headerOf(request, 'x-payment') !== undefined)
          throw wrongHeader(`is missing. X-PAYMENT is of version 1. ${USE_VERSION}`);
        return answerByStatus(deps, visit, payment);
      }
      const read = readPaymentHeader(header);
      if (!read.ok) throw wrongHeader(read.problem);
      const onUnproved = () => deps.surveyLimit.take(request, reply, 1);
      const acceptance = await acceptAuthorization(deps, { payment, paying: read.value, onUnproved });
      if (acceptance.is === 'unfit') return askToPay(deps, visit, { payment, error: acceptance.reason });
      if (acceptance.is === 'unclear') return comeBack(deps, visit, payment);
      if (acceptance.is === 'settled') return answerSettled(deps, visit, acceptance.authorized);
      return answerAuthorized(deps, visit, acceptance.authorized);
    },
  );
}

/** The sentence for clients of version 1. They show it, because they cannot read the list of requirements. */
const USE_VERSION = `This gateway speaks x402 version ${X402_VERSION}: use a client of that version.`;

interface Visit {
  readonly request: FastifyRequest<{ Params: { id: string } }>;
  readonly reply: FastifyReply;
}

async function findPayment(deps: HttpDeps, { params }: Visit['request']): Promise<Payment> {
  const id = paymentIdIn(params.id, deps.config.publicUrl);
  const payment = id === undefined ? undefined : await deps.readPayment(id);
  if (payment === undefined) throw paymentNotFound();
  return payment;
}

function wrongHeader(message: string): ApiError {
  return validationError([{ field: 'PAYMENT-SIGNATURE', message }]);
}

/** The answer that follows from the payment's status alone, without the transaction of an authorization. */
async function answerByStatus(deps: HttpDeps, visit: Visit, payment: Payment) {
  const status = visibleStatus(stateOf(payment), deps.world.clock.nowMs());
  if (status === 'expired') throw paymentExpired();
  if (status === 'failed' || status === 'cancelled') throw notPayable(status);
  if (status === 'requires_action')
    return askToPay(deps, visit, { payment, error: `PAYMENT-SIGNATURE is missing. ${USE_VERSION}` });
  return status === 'succeeded'
    ? viewStatus(deps.config, payment, deps.world.clock.nowMs())
    : comeBack(deps, visit, payment);
}

/**
 * Asks the client to pay (402). If enough money has already arrived at an address of the payment, the client is asked to retry
 * instead. A smaller amount is ignored here, because anybody can send one.
 */
async function askToPay(
  deps: HttpDeps,
  visit: Visit,
  { payment, error }: { readonly payment: Payment; readonly error: string },
) {
  if (await isPaidInto(deps.db.sql, payment.id)) return comeBack(deps, visit, payment);
  const url = `${deps.config.publicUrl}/x402/${payment.id}`;
  const required = {
    x402Version: X402_VERSION,
    error: `${error}${clockNote(deps)}`,
    resource: { url, description: `Payment ${payment.id}`, mimeType: 'application/json' },
    accepts: await listRequirements(deps, payment),
    extensions: EXTENSIONS,
  };
  visit.reply.code(402).header('PAYMENT-REQUIRED', headerText(required));
  return required as never;
}

/**
 * A note for the client about the moved clock of a sandbox. Clients compute the end of an authorization by their own clock. If the
 * sandbox's clock was moved ahead, that end has already passed here, and every payment fails.
 */
function clockNote({ world }: HttpDeps): string {
  const aheadS = Math.round(shiftOf(world.clock) / 1000);
  if (aheadS < CLOCK_NOTE_S) return '';
  return ` (The clock of this sandbox is ${aheadS} s ahead of real time: authorizations that a client dates by its own clock have ended here. Start the sandbox with a new TILL_HOME to pay by x402.)`;
}

/** The least shift of the clock, in seconds, at which a note is sent. Authorizations of clients last for a minute or more. */
const CLOCK_NOTE_S = 30;

/** Asks the client to retry (503). The payment is under way, so nobody is asked to pay it again. */
function comeBack({ config, world }: HttpDeps, { reply }: Visit, payment: PaymentGlance) {
  reply.code(503).header('Retry-After', String(RETRY_AFTER_S));
  return viewStatus(config, payment, world.clock.nowMs());
}

/**
 * The answer for a payment that needs no authorization any more, because it is being paid or has ended. It names the transaction
 * if the transfer of this authorization is in a block.
 */
async function answerSettled(deps: HttpDeps, visit: Visit, authorized: Authorized) {
  const payment = await findPayment(deps, visit.request);
  const transaction = payment.status === 'succeeded' ? await findInclusion(deps, authorized) : undefined;
  return transaction === undefined
    ? answerByStatus(deps, visit, payment)
    : answerPaid(deps, visit, { authorized, payment, transaction });
}

/** Waits for the block with the transfer of an accepted authorization. */
async function answerAuthorized(deps: HttpDeps, visit: Visit, authorized: Authorized) {
  const { payment, transaction } = await follow(deps, visit, authorized);
  if (transaction === undefined) return answerByStatus(deps, visit, payment);
  return answerPaid(deps, visit, { authorized, payment, transaction });
}

function answerPaid(
  deps: HttpDeps,
  visit: Visit,
  paid: { readonly authorized: Authorized; readonly payment: Payment; readonly transaction: string },
) {
  const { authorized, payment, transaction } = paid;
  const { deposit, payer } = authorized;
  const { network, item } = deposit;
  const response = { success: true, payer, transaction, network, amount: item.amount };
  visit.reply.header('PAYMENT-RESPONSE', headerText(response));
  return viewStatus(deps.config, payment, deps.world.clock.nowMs());
}

interface Progress {
  readonly payment: Payment;
  readonly transaction: string | undefined;
}

async function follow(deps: HttpDeps, { request, reply }: Visit, authorized: Authorized): Promise<Progress> {
  const find = async (): Promise<Progress> => {
    const transaction = await findInclusion(deps, authorized);
    return { payment: await findPayment(deps, request), transaction };
  };
  const isOver = ({ payment, transaction }: Progress) =>
    transaction !== undefined || isFinal(payment.status) || payment.status === 'requires_action';
  const found = await find();
  if (isOver(found)) return found;
  try {
    return await holdUntil(deps, {
      watched: found.payment.id,
      place: deps.holdPlaces.take(request, reply),
      untilMs: request.startedAtMs + HOLD_MS,
      find,
      isOver,
      waitMs: () => CHECK_EVERY_MS,
    });
  } catch (error) {
    // The authorization is already stored, so a request that cannot be held is answered at once.
    if (error instanceof ApiError && error.code === 'rate_limited') return found;
    throw error;
  }
}

const RequirementBody = Type.Object(
  {
    scheme: Type.Literal('exact'),
    network: Type.String({ description: 'CAIP-2.' }),
    amount: Type.String({ description: 'In the smallest unit of the token.' }),
    asset: Type.String({ description: 'The address of the token.' }),
    payTo: Type.String({ description: 'The deposit address of the payment for this token.' }),
    maxTimeoutSeconds: Type.Integer({ description: 'The longest time that the authorization may be valid.' }),
    extra: Type.Object(
      {
        name: Type.String({ description: 'The name in the EIP-712 domain of the token.' }),
        version: Type.String({ description: 'Its version.' }),
        paymentId: Type.String({ description: 'The payment.' }),
      },
      { title: 'X402Extra' },
    ),
  },
  { title: 'X402Requirement' },
);

const RequiredBody = Type.Object(
  {
    x402Version: Type.Literal(X402_VERSION),
    error: Type.String({ description: 'The reason why the payment is asked for.' }),
    resource: Type.Object(
      { url: Type.String(), description: Type.String(), mimeType: Type.String() },
      { title: 'X402Resource' },
    ),
    accepts: Type.Array(RequirementBody, { description: 'The ways to pay, one for each token.' }),
    extensions: Type.Object(
      {
        'payment-identifier': Type.Object(
          {
            info: Type.Object({ required: Type.Boolean() }, { title: 'X402PaymentIdentifierInfo' }),
            schema: Type.Unknown({ description: 'The JSON schema of `info`.' }),
          },
          { title: 'X402PaymentIdentifier' },
        ),
      },
      { title: 'X402Extensions', description: 'The extensions that are honoured.' },
    ),
  },
  {
    title: 'X402PaymentRequired',
    description: 'Payment is required. `PAYMENT-REQUIRED` has the same content, as JSON in base64.',
  },
);

const X402 = {
  tags: ['x402'],
  operationId: 'payByX402',
  summary: 'Pay a payment by x402',
  description:
    'For programs that pay by themselves (x402, version 2, scheme `exact`). Without `PAYMENT-SIGNATURE` the answer is 402 with the ways to pay. With it the authorization is checked, stored and carried out; the answer comes when two endpoints show the transfer in a block. A payment takes one authorization. The same one gets the same answer. While it may still be carried out, every other request gets 503, and never another 402.',
  params: PaymentParams,
  headers: Type.Object({
    'payment-signature': Type.Optional(
      Type.String({ description: 'The signed payment: JSON in base64, as x402 clients send it.' }),
    ),
  }),
  response: {
    200: { ...StatusBody, description: 'The transfer is in a block, or the payment was paid before.' },
    402: RequiredBody,
    503: {
      description:
        'The payment is under way, or the database or every endpoint of a chain is out of reach. Ask again after the seconds of `Retry-After`.',
      anyOf: [StatusBody, { $ref: 'ErrorBody#' }],
    },
  },
};
