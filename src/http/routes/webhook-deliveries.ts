import { Type } from 'typebox';
import { redeliverOne, redeliverSince, testEndpoint } from '../../actions/webhooks/redeliver.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import { MAX_REFUNDS, refundIdOf } from '../../domain/ids.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { DELIVERY_STATUSES } from '../../domain/webhook.ts';
import { ApiError, validationError } from '../../errors.ts';
import { findNewestEvents } from '../../store/events/events.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { type Delivery, findDeliveriesOf, findEvents, listDeliveries } from '../../store/webhooks/deliveries.ts';
import type { Endpoint } from '../../store/webhooks/endpoints.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, onBehalfOf } from '../entry/caller.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { eventBodies, findSubjects } from '../event-bodies.ts';
import { Cursor, limitOf, namedEnum, pageOf, Timestamp } from '../schemas.ts';
import { DeliveryBody, ShownDeliveryBody, viewDelivery, viewShownDelivery } from '../views/webhook-endpoint.ts';
import { findOwnPayment, PaymentParams } from './payments.ts';
import { EndpointParams, endpointRequest, findOwnEndpoint, findShownEndpoints, WEBHOOKS } from './webhook-endpoints.ts';

/** Routes for the deliveries of webhook endpoints, and routes that cause further deliveries: tests and retries. */
export async function webhookDeliveryRoutes(app: App, deps: HttpDeps): Promise<void> {
  // Answers are written by `JSON.stringify`, because the serialisers made from schemas do not support alternatives of objects.
  const serializerCompiler = () => JSON.stringify;
  const config = { access: WEBHOOKS, errors: ['invalid_state'] } as const;

  app.post('/v1/webhook-endpoints/:id/test', { schema: TEST, config }, async (request, reply) => {
    const eventId = await testEndpoint(onBehalfOf(request, deps), endpointRequest(request));
    return reply.code(202).send({ eventId });
  });

  app.get(
    '/v1/webhook-endpoints/:id/deliveries',
    { schema: LIST, config: { access: WEBHOOKS, priority: 'spare' }, serializerCompiler },
    async (request, reply) => {
      const { status, cursor, limit = LIMIT } = request.query;
      const { id: keyId } = callerRights(request);
      const endpoint = await findOwnEndpoint(deps.db.sql, request);
      const question = JSON.stringify(['deliveries', endpoint.id, status]);
      const before = openBefore(deps, question, cursor);
      return deps.lists.read(keyId, reply, async (db) => {
        const { deliveries: page, next } = await listDeliveries(db, {
          endpointId: endpoint.id,
          status,
          before,
          limit,
        });
        const nextCursor = next === null ? null : sealCursor(deps.cursorKeys, question, [next]);
        return { deliveries: await viewDeliveries(deps, db, { endpoint, page }), nextCursor };
      });
    },
  );

  app.get(
    '/v1/payments/:id/webhook-deliveries',
    { schema: OF_PAYMENT, config: { access: OF_MERCHANT, priority: 'spare', errors: ['payment_not_found'] } },
    async (request, reply) => {
      const payment = await findOwnPayment(deps.readPayment, request);
      return deps.lists.read(callerRights(request).id, reply, async (db) => {
        const own = await findShownEndpoints(db, request, payment);
        const found = await findDeliveriesOf(db, payment, {
          eventIds: await findEventsOf(db, payment.id),
          limit: MOST_OF_PAYMENT,
        });
        return { deliveries: found.filter(({ endpointId }) => own.has(endpointId)).map(viewShownDelivery) };
      });
    },
  );

  app.post(
    '/v1/webhook-endpoints/:id/deliveries/:deliveryId/redeliver',
    { schema: REDELIVER, config, serializerCompiler },
    async (request, reply) => {
      const { deliveryId: eventId } = request.params;
      const about = endpointRequest(request);
      if (!isPlausibleId(eventId)) throw deliveryNotFound();
      const endpoint = await findOwnEndpoint(deps.db.sql, request);
      const delivery = await redeliverOne(onBehalfOf(request, deps), { ...about, eventId });
      if (delivery === undefined) throw deliveryNotFound();
      const [shown] = await viewDeliveries(deps, deps.db.sql, { endpoint, page: [delivery] });
      return reply.code(202).send({ delivery: shown as NonNullable<typeof shown> });
    },
  );

  app.post('/v1/webhook-endpoints/:id/redeliver', { schema: REDELIVER_SINCE, config }, async (request, reply) => {
    const parsed = parseTimestamp(request.body.since);
    if (!parsed.ok) throw validationError([{ field: 'since', message: parsed.problem }]);
    if (parsed.value > deps.world.clock.nowMs()) {
      throw validationError([{ field: 'since', message: 'must not be in the future' }]);
    }
    const since = new Date(Math.max(parsed.value, 0));
    await redeliverSince(onBehalfOf(request, deps), { ...endpointRequest(request), since });
    return reply.code(202).send({ since: since.toISOString() });
  });
}

async function viewDeliveries(
  { config }: HttpDeps,
  db: Reader,
  { endpoint, page }: { readonly endpoint: Endpoint; readonly page: readonly Delivery[] },
) {
  const events = await findEvents(
    db,
    page.map(({ eventId }) => eventId),
  );
  const readSubjects = () => findSubjects(db, events);
  const bodies = await eventBodies({ config, readSubjects }, events, endpoint.apiVersion);
  const byId = new Map(bodies.map((body) => [body.id, body]));
  return page.map((delivery) =>
    viewDelivery(delivery, { endpointUrl: endpoint.url, event: byId.get(delivery.eventId) ?? null }),
  );
}

function openBefore({ cursorKeys }: HttpDeps, question: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [before] = openCursor(cursorKeys, question, cursor) ?? [];
  if (before === undefined) {
    throw new ApiError(
      'invalid_params',
      'The cursor is not one of ours for this query: use nextCursor with the same filters.',
    );
  }
  return before;
}

function deliveryNotFound(): ApiError {
  return new ApiError('invalid_params', 'The delivery was not found.', { status: 404 });
}

/** The newest events of a payment and of its refunds. Few payments have more than ten. */
async function findEventsOf(db: Reader, paymentId: string): Promise<string[]> {
  const refundIds = Array.from({ length: MAX_REFUNDS }, (_, index) => refundIdOf(paymentId, index + 1));
  const { rows } = await findNewestEvents(db, [paymentId, ...refundIds], MOST_OF_PAYMENT);
  return rows.map(({ id }) => id);
}

const OF_MERCHANT = { ...WEBHOOKS, merchant: 'header', takesDeleted: true } as const;
const MOST_OF_PAYMENT = 100;

const LIMIT = 20;
const TAGS = ['Webhooks'];
const Nothing = Type.Unsafe<unknown>({ type: ['object', 'null'], properties: {}, additionalProperties: false });

const TEST = {
  tags: TAGS,
  operationId: 'testWebhookEndpoint',
  summary: 'Test a webhook endpoint',
  description:
    'Sends an event of type `webhook_endpoint.test` to this endpoint, whatever its types and merchants. Its deliveries show the result.',
  params: EndpointParams,
  body: Nothing,
  response: { 202: Type.Object({ eventId: Type.String() }, { description: 'The event is on its way.' }) },
};

const LIST = {
  tags: TAGS,
  operationId: 'listWebhookDeliveries',
  summary: 'List deliveries of a webhook endpoint',
  description:
    'Those of the newest events first, of events that the endpoint is subscribed to now. A page can be empty although more follow: the last one has no `nextCursor`. Deliveries are kept for 30 days, unless the operator has chosen otherwise.',
  params: EndpointParams,
  querystring: Type.Object({
    status: Type.Optional(namedEnum('DeliveryStatus', DELIVERY_STATUSES)),
    cursor: Type.Optional(Cursor),
    limit: limitOf(50, LIMIT),
  }),
  response: { 200: pageOf({ deliveries: Type.Array(DeliveryBody) }, 'DeliveryPage') },
};

const OF_PAYMENT = {
  tags: TAGS,
  operationId: 'listPaymentWebhookDeliveries',
  summary: 'List webhook deliveries of a payment',
  description:
    'Deliveries of the events of a payment and of its refunds, the newest first, at most 100. The lists of the endpoints have their bodies.',
  params: PaymentParams,
  response: {
    200: Type.Object({ deliveries: Type.Array(ShownDeliveryBody) }, { description: 'The deliveries.' }),
  },
};

const REDELIVER = {
  tags: TAGS,
  operationId: 'redeliverEvent',
  summary: 'Redeliver an event',
  description: 'Attempts the delivery at once, and starts its schedule again, also if it has succeeded.',
  params: Type.Object({
    ...EndpointParams.properties,
    deliveryId: Type.String({ description: 'The delivery.' }),
  }),
  body: Nothing,
  response: { 202: Type.Object({ delivery: DeliveryBody }, { description: 'The delivery is due.' }) },
};

const REDELIVER_SINCE = {
  tags: TAGS,
  operationId: 'redeliverEventsSince',
  summary: 'Redeliver all events since a time',
  description:
    'All events since then that the endpoint is subscribed to, also those that were delivered, and those that happened while the endpoint was disabled. The deliveries are created in the background.',
  params: EndpointParams,
  body: Type.Object(
    { since: Type.String({ 'x-form': 'timestamp', maxLength: 64, examples: ['2026-02-18T09:30:00Z'] }) },
    { additionalProperties: false },
  ),
  response: {
    202: Type.Object({ since: Timestamp }, { description: 'The deliveries will be created.' }),
  },
};
