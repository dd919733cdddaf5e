import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { shareOfPayment } from '../../actions/outgoing/refund/plan-refund.ts';
import { findRefundable } from '../../actions/outgoing/refund/refundable.ts';
import { cancelPayment } from '../../actions/paying/cancel-payment.ts';
import { findCreated, type PaymentOrder } from '../../actions/paying/create-payment.ts';
import { parseUnit, type Unit } from '../../chains/units.ts';
import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import { requestHash } from '../../domain/idempotency.ts';
import { isId } from '../../domain/ids.ts';
import { parseUnits } from '../../domain/money.ts';
import { isFinal, pollInMs } from '../../domain/payment.ts';
import { ApiError, type Issue, validationError } from '../../errors.ts';
import { findPayingItem } from '../../store/chain/items.ts';
import { findLateMoneyOf } from '../../store/money/late-money.ts';
import { findShownRefunds } from '../../store/money/refunds.ts';
import { findPaymentDetails, type PaymentDetails } from '../../store/payments/payment-details.ts';
import type { PaymentReader } from '../../store/payments/payment-reader.ts';
import { findPaymentSettlement } from '../../store/payments/payment-settlements.ts';
import type { PaymentGlance } from '../../store/payments/payments.ts';
import type { App, HttpDeps } from '../deps.ts';
import { canonicalAccepted, checkAccepted } from '../entry/accepted-assets.ts';
import { actorOf, callerRights, merchantOf } from '../entry/caller.ts';
import { idempotencyKeyOf } from '../entry/idempotency.ts';
import { gatewayUrl } from '../entry/payment-id.ts';
import { checkPrice } from '../entry/price.ts';
import { issuesOf } from '../errors.ts';
import { acceptedAssetsField, CancelledBody, nullable, PLAIN_TEXT, PriceFields } from '../schemas.ts';
import { NOT_MODIFIED, StatusQuery, sendStatus } from '../status/status.ts';
import { viewLateMoney } from '../views/late-money.ts';
import { DetailsBody, PaymentStatusField, StatusBody, viewDetails } from '../views/payment.ts';
import { parseCheckoutUrls } from './checkout-urls.ts';
import { OrderDetails, readDetails } from './order-details.ts';

const ACCESS = { scheme: 'partner', merchant: 'header', takesDeleted: true } as const;
export const READ = { ...ACCESS, scope: 'payments:read' } as const;
const WRITE = { ...ACCESS, scope: 'payments:write' } as const;
const CREATE_ACCESS = { scheme: 'partner', merchant: 'header', scope: 'payments:write' } as const;

const CANCEL_CONFIG = { access: WRITE, priority: 'money', errors: ['payment_not_found', 'invalid_state'] } as const;

const DEFAULT_LIFETIME_S = 300;
const MAX_LIFETIME_S = 30 * 24 * 3600;

/** A merchant's payments. The singular paths are aliases for point-of-sale software that is already shipped. */
export async function paymentRoutes(app: App, deps: HttpDeps): Promise<void> {
  for (const url of ['/v1/payments', '/v1/merchant/payment']) {
    const schema = { ...CREATE, ...aliasOf(url, '/v1/payments', CREATE.operationId) };
    const config = {
      access: CREATE_ACCESS,
      priority: 'money',
      idempotency: 'accepted',
      errors: ['idempotency_conflict', 'not_sandbox_api_key'],
    } as const;
    // `attachValidation` passes the schema's errors to the handler, so that one answer names them together with the handler's own.
    app.post(url, { schema, config, attachValidation: true }, async (request, reply) => {
      const { order, refusal } = readOrder(deps, request, request.body);
      const created = refusal === undefined ? await deps.createPayment(order) : await findCreated(deps, order);
      if (created === undefined) throw refusal;
      if (created.isReplayed) {
        deps.metrics.replays.inc();
        reply.header('Idempotent-Replayed', 'true');
      }
      reply.code(201);
      return {
        paymentId: created.id,
        status: created.status,
        expiresAt: created.expiresAtMs / 1000,
        isFinal: isFinal(created.status),
        gatewayUrl: gatewayUrl(deps.config.publicUrl, created.id),
        pollInMs: pollInMs(created.status),
      };
    });
  }

  for (const url of ['/v1/payments/:id/status', '/v1/merchant/payment/:id/status']) {
    const schema = { ...STATUS, ...aliasOf(url, '/v1/payments/:id/status', STATUS.operationId) };
    const config = { access: READ, priority: 'money', errors: ['payment_not_found'] } as const;
    app.get(url, { schema, config }, (request, reply) =>
      sendStatus(deps, request, reply, () => findOwnPayment(deps.glanceAtPayment, request)),
    );
  }

  app.get(
    '/v1/payments/:id',
    { schema: DETAILS, config: { access: READ, errors: ['payment_not_found'] } },
    async (request) => {
      const payment = await findOwnPayment(deps.readPayment, request);
      const isPaid = payment.status === 'succeeded';
      const now = new Date(deps.world.clock.nowMs());
      // These facts are read for each answer, because settlements, refunds and late money change after the payment has ended.
      const [details, settlement, item, refunds, refundable, lateMoney] = await Promise.all([
        findPaymentDetails(deps.db.sql, payment.id),
        isPaid ? findPaymentSettlement(deps.db.sql, payment.id) : undefined,
        isPaid ? findPayingItem(deps.db.sql, payment.id) : undefined,
        isPaid ? findShownRefunds(deps.db.sql, { paymentId: payment.id, now }) : [],
        isPaid ? findRefundable(deps.db.sql, payment) : null,
        findLateMoneyOf(deps.db.sql, { paymentId: payment.id, now }),
      ]);
      const paid = item && shareOfPayment(payment, item);
      const net = paid && paid.amount - paid.fee;
      const shown = { payment, details, settlement, net, refunds, refundable, nowMs: now.getTime() };
      return {
        ...viewDetails(deps.config, shown),
        lateMoney: lateMoney.map((money) => viewLateMoney(deps.config, money)),
      };
    },
  );

  app.post(
    '/v1/payments/:id/cancel',
    { schema: CANCEL, config: { ...CANCEL_CONFIG, ignoresBody: true } },
    async (request) => {
      const { id } = await findOwnPayment(deps.readPayment, request);
      return cancelPayment(deps, { paymentId: id, by: 'merchant', actor: actorOf(request) });
    },
  );
}

/** The payment in the path, if it belongs to the merchant. */
export function findOwnPayment<Row extends PaymentGlance>(
  read: PaymentReader<Row>,
  request: FastifyRequest<{ Params: { id: string } }>,
): Promise<Row> {
  const { id } = request.params;
  if (!isId('pay_', id)) throw paymentNotFound();
  return read(id).then((payment) => {
    if (payment?.merchantId !== merchantOf(request).id) throw paymentNotFound();
    return payment;
  });
}

export function paymentNotFound(): ApiError {
  return new ApiError('payment_not_found', 'The payment was not found.');
}

type OrderBody = Static<(typeof CREATE)['body']>;

interface ReadOrder {
  readonly order: PaymentOrder;
  /** The error if the order is not acceptable now. The order may have been accepted earlier under its Idempotency-Key. */
  readonly refusal: ApiError | undefined;
}

/** Reads the order of a new payment. Throws one error that names every wrong field. */
function readOrder(deps: HttpDeps, request: FastifyRequest, body: OrderBody): ReadOrder {
  const nowMs = deps.world.clock.nowMs();
  const key = callerRights(request);
  const merchant = merchantOf(request);
  const issues = formIssues(request);
  const hasForm = (field: string) => !issues.some((issue) => `${field}.`.startsWith(`${issue.field}.`));
  const unit = hasForm('amount.unit') ? parseUnit(deps.registry, body.amount.unit) : undefined;
  if (unit?.ok === false) issues.push({ field: 'amount.unit', message: unit.problem });
  const value = hasForm('amount.value') ? parseUnits(body.amount.value) : undefined;
  const details = readDetails(deps.registry, body, { hasForm, issues });
  const rehearsalProblem = details?.metadata && deps.rehearsal.problemOf(key.mode, details.metadata);
  if (rehearsalProblem !== undefined) issues.push({ field: 'metadata.sandbox', message: rehearsalProblem });
  const urls = parseCheckoutUrls(body.checkout ?? null, { mode: key.mode, hasForm, issues });
  const expiresAtS = (hasForm('expiresAt') ? body.expiresAt : null) ?? Math.floor(nowMs / 1000) + DEFAULT_LIFETIME_S;
  if (expiresAtS * 1000 > nowMs + MAX_LIFETIME_S * 1000)
    issues.push({ field: 'expiresAt', message: 'must be at most 30 days ahead, in seconds since the epoch' });
  const late = { field: 'expiresAt', message: 'must be in the future, in seconds since the epoch' };
  const timeIssues = expiresAtS * 1000 <= nowMs ? [late] : [];
  if (issues.length > 0 || !unit?.ok || value === undefined) throw validationError([...issues, ...timeIssues]);

  const idempotencyKey = idempotencyKeyOf(request);
  const own = canonicalAccepted(body.acceptedAssets);
  const price = { mode: key.mode, merchant, unit: unit.value, value, field: 'amount' };
  const checked = refusalOr(() => {
    if (timeIssues.length > 0) throw validationError(timeIssues);
    checkAccepted(deps, key.mode, body.acceptedAssets);
    return checkPrice(deps, { ...price, own: { of: 'payment', accepted: own } });
  });
  const refusal = checked instanceof ApiError ? checked : undefined;
  const order: PaymentOrder = {
    merchant,
    referenceId: body.referenceId,
    amountUnit: unit.value.id,
    amountValue: body.amount.value,
    amountDecimals: unit.value.decimals,
    tokenAsset: unit.value.token?.asset ?? null,
    expiresAtMs: expiresAtS * 1000,
    ...urls,
    actor: actorOf(request),
    acceptedAssets: checked instanceof ApiError ? own : checked,
    details,
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: idempotencyKey, meaning: meaningOf(body, unit.value, { details, own }) },
  };
  return { order, refusal };
}

function refusalOr<T>(check: () => T): T | ApiError {
  try {
    return check();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The schema's errors, if the other fields of the body can still be checked. Otherwise throws them. */
function formIssues({ validationError: error }: FastifyRequest): Issue[] {
  if (error === undefined) return [];
  const issues = issuesOf(error.validation, 'body');
  if (issues.some(({ field }) => field === 'body')) throw validationError(issues);
  return issues;
}

/**
 * The meaning of an order, by which a retry is recognised. The default expiry is not part of it, so that a retry one second later
 * means the same. An order without details and without a list of assets has the same meaning as before these fields existed, so
 * that retries across an upgrade find their payment. The accepted assets of partner and merchant are not part of it either,
 * because they may have changed before a retry.
 */
function meaningOf(
  { amount, referenceId, checkout, expiresAt }: OrderBody,
  unit: Unit,
  { details, own }: { readonly details: PaymentDetails | null; readonly own: AcceptedAssets },
) {
  const order = [unit.id, amount.value, referenceId, checkout?.successUrl, checkout?.errorUrl, expiresAt ?? null];
  if (own !== null) return [...order, details && requestHash(details), own];
  return details === null ? order : [...order, requestHash(details)];
}

/** The description of an alias, a deprecated route with the same answers. It names the canonical route. */
function aliasOf(url: string, canonical: string, operationId: string): object {
  if (url === canonical) return {};
  return {
    deprecated: true,
    operationId: `${operationId}Legacy`,
    description: `An alias of \`${canonical.replace(':id', '{id}')}\`, kept for shipped clients.`,
  };
}

const TAGS = ['Payments'];

export const PaymentParams = Type.Object({ id: Type.String({ description: 'The payment.' }) });

const CREATE = {
  tags: TAGS,
  operationId: 'createPayment',
  summary: 'Create a payment',
  description: 'Send the payer to `gatewayUrl`, or show it as a QR code.',
  body: Type.Object(
    {
      amount: Type.Object(PriceFields, { title: 'Price' }),
      referenceId: Type.String({
        minLength: 1,
        maxLength: 255,
        ...PLAIN_TEXT,
        description: 'Your order id.',
        examples: ['ORDER-42'],
      }),
      checkout: Type.Optional(
        Type.Unsafe<{ successUrl: string; errorUrl: string } | null>({
          ...Type.Object(
            {
              successUrl: Type.String({ minLength: 1, maxLength: 2048, examples: ['https://shop.example/thanks'] }),
              errorUrl: Type.String({ minLength: 1, maxLength: 2048, examples: ['https://shop.example/sorry'] }),
            },
            { title: 'CheckoutUrls' },
          ),
          type: ['object', 'null'],
          description:
            'The URLs to which the checkout returns the payer at the end. HTTPS; test keys may use http on localhost.',
        }),
      ),
      ...OrderDetails,
      acceptedAssets: Type.Optional(
        acceptedAssetsField(
          'The assets that this payment can be paid with. The lists of the merchant and of the partner hold as well.',
        ),
      ),
      expiresAt: Type.Optional(
        nullable(
          Type.Integer({
            description: 'Seconds since the epoch, at most 30 days ahead. Default: five minutes from now.',
          }),
        ),
      ),
    },
    { title: 'NewPayment' },
  ),
  response: {
    201: Type.Object(
      {
        paymentId: Type.String({ examples: ['pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
        status: PaymentStatusField,
        expiresAt: Type.Integer({ minimum: 0, description: 'Seconds since the epoch.' }),
        isFinal: Type.Boolean(),
        gatewayUrl: Type.String({ description: 'The URL of the checkout.' }),
        pollInMs: nullable(Type.Integer({ minimum: 0 })),
      },
      { title: 'CreatedPayment', description: 'The new payment.' },
    ),
  },
};

const DETAILS = {
  tags: TAGS,
  operationId: 'getPayment',
  summary: 'Get a payment',
  description: 'The payment with its settlement, its refunds, its late money and the details of its order.',
  params: PaymentParams,
  response: { 200: DetailsBody },
};

const STATUS = {
  tags: TAGS,
  operationId: 'getPaymentStatus',
  summary: 'Get the status of a payment',
  description:
    'With `maxPollMs` the request is held until the status changes, at most 25 s. Send the `ETag` of your last answer as `If-None-Match`: then it is held only while nothing has changed since.',
  params: PaymentParams,
  querystring: StatusQuery,
  response: { 200: StatusBody, 304: NOT_MODIFIED },
};

const CANCEL = {
  tags: TAGS,
  operationId: 'cancelPayment',
  summary: 'Cancel a payment',
  description: 'Only while it is waiting for the payer. The body is ignored.',
  params: PaymentParams,
  response: { 200: CancelledBody },
};
