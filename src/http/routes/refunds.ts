import { type Static, Type } from 'typebox';
import { findRefundables } from '../../actions/outgoing/refund/refundable.ts';
import {
  type Requested,
  type RequestRefundInput,
  requestRefund,
} from '../../actions/outgoing/refund/request-refund.ts';
import type { Registry } from '../../chains/registry.ts';
import { parseUnit } from '../../chains/units.ts';
import { parseAccount } from '../../domain/caip.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { isId } from '../../domain/ids.ts';
import { REFUND_STATES } from '../../domain/refund.ts';
import { ApiError, type Issue, validationError } from '../../errors.ts';
import { coolingOffMs } from '../../settings/cooling-off.ts';
import { findShownRefunds, listRefunds, type ShownRefund } from '../../store/money/refunds.ts';
import { findPayments } from '../../store/payments/payments.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, checkFurther, merchantOf, onBehalfOf, placeOf } from '../entry/caller.ts';
import { idempotencyKeyOf, idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import { several, splitCommas } from '../entry/payment-query.ts';
import { refundApproval } from '../entry/refund-rights.ts';
import { Cursor, limitOf, namedEnum, pageOf, textOf } from '../schemas.ts';
import type { Origin } from '../views/icons.ts';
import { OwnRefundBody, viewOwnRefund, viewRefundable, viewSignUrl } from '../views/refund.ts';

const WRITE = { scheme: 'partner', merchant: 'header', scope: 'refunds:write', takesDeleted: true } as const;
const READ = { scheme: 'partner', merchant: 'header', scope: 'payments:read', takesDeleted: true } as const;

export async function refundRoutes(app: App, deps: HttpDeps): Promise<void> {
  const config = {
    access: WRITE,
    priority: 'money',
    idempotency: 'accepted',
    errors: ['payment_not_found', 'payment_not_succeeded', 'already_refunded', 'invalid_state', 'idempotency_conflict'],
  } as const;
  app.post('/v1/refunds', { schema: REFUND, config }, async (request, reply) => {
    const { body } = request;
    const wish = readWish(deps.registry, body);
    if (wish.destination !== undefined) checkFurther(request, deps, 'destinations:write');
    const idempotent =
      body.amount !== undefined || idempotencyKeyOf(request) !== undefined
        ? idempotentRequest(request, meaningOf(body, wish))
        : undefined;
    const input = {
      ...wish,
      paymentId: body.paymentId,
      merchantId: merchantOf(request).id,
      actor: actorOf(request),
      isOperators: false,
      approve: refundApproval(request, deps),
      coolingOffMs: coolingOffMs(deps.config, callerRights(request).mode),
    };
    const isPlain = Object.keys(body).length === 1;
    const screening =
      (await deps.rehearsal.refundScreening(callerRights(request).mode, body.paymentId)) ?? deps.screening;
    const answer = await requestRefund({ ...onBehalfOf(request, deps), screening }, input, idempotent, (requested) => ({
      status: 200,
      body: viewRequested(deps.config, requested, isPlain),
    }));
    return sendAnswer(deps, reply, answer);
  });

  app.get(
    '/v1/refunds',
    {
      schema: LIST,
      config: { access: { ...READ, mayOmitMerchant: true }, priority: 'spare' },
      preValidation: splitCommas(['status']),
    },
    async (request, reply) => {
      const { paymentId, status: states = REFUND_STATES, cursor, limit = LIMIT } = request.query;
      const of = placeOf(request);
      const question = JSON.stringify(['refunds', of, paymentId ?? null, [...states].sort()]);
      const after = openAfter(deps, question, cursor);
      return deps.lists.readReplicated(callerRights(request), reply, async (db) => {
        const found = await listRefunds(db, {
          of,
          paymentId,
          states,
          after,
          limit: limit + 1,
          now: nowOf(deps),
        });
        const page = found.slice(0, limit);
        const last = found.length > limit ? page.at(-1) : undefined;
        const place = last && [String(last.requestedAt.getTime()), last.id];
        return {
          refunds: await viewAll(deps, db, page),
          nextCursor: place === undefined ? null : sealCursor(deps.cursorKeys, question, place),
        };
      });
    },
  );

  app.get('/v1/refunds/:id', { schema: GET, config: { access: READ } }, async (request) => {
    const { id } = request.params;
    if (!isId('rfnd_', id)) throw refundNotFound();
    const { sql } = deps.db;
    const [shown] = await viewAll(
      deps,
      sql,
      await findShownRefunds(sql, { id, merchantId: merchantOf(request).id, now: nowOf(deps) }),
    );
    if (shown === undefined) throw refundNotFound();
    return shown;
  });
}

function nowOf({ world }: HttpDeps): Date {
  return new Date(world.clock.nowMs());
}

type Wish = Pick<RequestRefundInput, 'amount' | 'destination' | 'reason'>;

/** Reads the wanted refund. Throws one error that names every wrong field. */
function readWish(registry: Registry, { amount, destination, reason }: Static<typeof RefundWish>): Wish {
  const issues: Issue[] = [];
  const unit = amount && parseUnit(registry, amount.unit);
  if (unit?.ok === false) issues.push({ field: 'amount.unit', message: unit.problem });
  const account = destination === undefined ? undefined : parseAccount(destination);
  if (account?.ok === false) issues.push({ field: 'destination', message: account.problem });
  if (issues.length > 0) throw validationError(issues);
  return {
    amount: amount && unit?.ok ? { unit: unit.value.id, value: BigInt(amount.value) } : undefined,
    destination: account?.ok ? account.value : undefined,
    reason,
  };
}

/**
 * The meaning of a request, by which a retry is recognised. A request with only a payment id has the same meaning as before the
 * other fields existed, so that older retries match.
 */
function meaningOf({ paymentId, amount }: Static<typeof RefundWish>, wish: Wish): unknown {
  const further = [wish.amount?.unit ?? null, amount?.value ?? null, wish.destination?.id ?? null, wish.reason ?? null];
  return further.every((each) => each === null) ? [paymentId] : [paymentId, ...further];
}

/** A plain full refund is answered with the payment's id, as specified. Every other request is answered with the refund. */
function viewRequested(origin: Origin, { refund, payment, refundable, isWhole }: Requested, isPlain: boolean) {
  if (isPlain && isWhole) return { paymentId: payment.id };
  return { ...viewOwnRefund(origin, payment, refund), refundable: viewRefundable(origin, payment, refundable) };
}

async function viewAll({ config, signingKeys }: HttpDeps, db: Reader, refunds: readonly ShownRefund[]) {
  const found = await findPayments(db, [...new Set(refunds.map(({ paymentId }) => paymentId))]);
  const payments = found.filter((payment) => payment !== undefined);
  const refundables = await findRefundables(db, payments);
  return refunds.map((refund) => {
    const payment = payments.find(({ id }) => id === refund.paymentId);
    if (payment === undefined) throw new Error('The payment of a refund is missing.');
    const refundable = viewRefundable(config, payment, refundables.get(payment.id) ?? null);
    return { ...viewOwnRefund(config, payment, refund), ...viewSignUrl(config, signingKeys, refund), refundable };
  });
}

function openAfter({ cursorKeys }: HttpDeps, question: string, cursor: string | undefined) {
  if (cursor === undefined) return undefined;
  const [requestedAtMs, id] = openCursor(cursorKeys, question, cursor) ?? [];
  if (requestedAtMs === undefined || id === undefined) {
    throw new ApiError(
      'invalid_params',
      'The cursor is not one of ours for this query: use nextCursor with the same filters.',
    );
  }
  return { requestedAt: new Date(Number(requestedAtMs)), id };
}

function refundNotFound(): ApiError {
  return new ApiError('invalid_params', 'The refund was not found.', { status: 404 });
}

const LIMIT = 20;
const TAGS = ['Refunds'];

const PaymentId = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^pay_[A-Za-z0-9]+$',
  'x-rule': 'must be pay_ and letters or digits',
  examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
});

const RefundWish = Type.Object(
  {
    paymentId: { ...PaymentId, description: 'The payment, which must have succeeded.' },
    amount: Type.Optional(
      Type.Object(
        {
          unit: Type.String({
            minLength: 1,
            maxLength: 256,
            description: 'The unit of the price, or `caip19/` and the paid asset.',
            examples: ['iso4217/USD'],
          }),
          value: Type.String({
            pattern: '^[1-9][0-9]{0,77}$',
            'x-rule': 'must be a whole number of minor units, as 1 to 78 digits without a leading zero',
            description: 'Minor units: `300` is 3.00 USD.',
            examples: ['300'],
          }),
        },
        {
          title: 'RefundAmount',
          additionalProperties: false,
          description:
            'A part of the payment; all that is left, if it is missing. It is converted at the payment’s own rate. Needs an `Idempotency-Key`.',
        },
      ),
    ),
    reason: Type.Optional(textOf(500, 'Your own words, for your records. The payer does not see them.')),
    destination: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'The account that gets the refund, CAIP-10, on the chain of the payment. The account that paid, if it is missing. Needs a key that may also change destinations (`destinations:write`). Like a changed destination it cools off first.',
        examples: ['eip155:8453:0x2D8B5f4C1C9e1e0F3D9a6F6b1A2B3c4D5e6F7a8B'],
      }),
    ),
  },
  { title: 'NewRefund', additionalProperties: false },
);

const REFUND = {
  tags: TAGS,
  operationId: 'createRefund',
  summary: 'Refund a payment',
  description:
    'Gives back all or a part of what the payer paid, in the asset it was paid with. A payment can have up to twelve refunds, which together never exceed it. The fee goes back pro rata; the last refund takes the remainder. The answer confirms that the refund was accepted; its own route shows the progress. A request with `paymentId` alone that refunds the whole payment is answered with `paymentId` alone.',
  body: RefundWish,
  response: {
    200: Type.Unsafe<{ paymentId: string } | Static<typeof OwnRefundBody>>(
      Type.Partial(OwnRefundBody, {
        title: 'AcceptedRefund',
        description: 'The refund was accepted.',
        required: ['paymentId'],
      }),
    ),
  },
};

const LIST = {
  tags: TAGS,
  operationId: 'listRefunds',
  summary: 'List refunds',
  description: 'The newest first. Without `Merchant-Id`: of all merchants that the caller may act for.',
  querystring: Type.Object({
    paymentId: Type.Optional({ ...PaymentId, description: 'Only refunds of this payment.' }),
    status: several(namedEnum('RefundStatus', REFUND_STATES), 'Only in these states.'),
    cursor: Type.Optional(Cursor),
    limit: limitOf(100, LIMIT),
  }),
  response: { 200: pageOf({ refunds: Type.Array(OwnRefundBody) }, 'RefundPage') },
};

const GET = {
  tags: TAGS,
  operationId: 'getRefund',
  summary: 'Get a refund',
  description: 'The refund with its state, and with the reason why it waits, if it does.',
  params: Type.Object({ id: Type.String({ description: 'The refund.' }) }),
  response: { 200: OwnRefundBody },
};
