import { Type } from 'typebox';
import { EVENT_PATTERNS } from '../../domain/event.ts';
import { isPinnable, KNOWN_VERSIONS } from '../../domain/version.ts';
import { DELIVERY_STATUSES, ENDPOINT_STATUSES } from '../../domain/webhook.ts';
import { MAX_URL_LENGTH } from '../../domain/webhook-url.ts';
import type { Delivery, ShownDelivery } from '../../store/webhooks/deliveries.ts';
import type { Endpoint } from '../../store/webhooks/endpoints.ts';
import { enumOf, namedEnum, nullable, Timestamp, textOf } from '../schemas.ts';

/** The endpoint without its secret. Only the routes that create a secret show it. */
export function viewEndpoint(
  endpoint: Omit<Endpoint, 'partnerId' | 'mode' | 'secrets' | 'updatedAt' | 'failingSince'>,
) {
  const { id, url, events, merchantIds, description, status, apiVersion, createdAt } = endpoint;
  return {
    id,
    url,
    events: [...events],
    merchantIds: merchantIds && [...merchantIds],
    description,
    status: status === 'active' ? ('active' as const) : ('disabled' as const),
    apiVersion,
    createdAt: createdAt.toISOString(),
  };
}

export function viewDelivery(
  delivery: Delivery,
  { endpointUrl, event }: { endpointUrl: string; event: object | null },
) {
  const { eventId, eventType, status, attempts, createdAt, dueAt, isClaimed, attemptedAt } = delivery;
  const { answerStatus, answer, problem, latencyMs } = delivery;
  return {
    id: eventId,
    eventId,
    eventType,
    status,
    attempts,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: isClaimed || dueAt === null ? null : dueAt.toISOString(),
    request: { url: delivery.url ?? endpointUrl, headers: { 'webhook-id': eventId }, body: event },
    lastAttempt:
      attemptedAt === null
        ? null
        : { at: attemptedAt.toISOString(), latencyMs: latencyMs ?? 0, status: answerStatus, answer, problem },
  };
}

/** A delivery without its event, in the list of a payment. */
export function viewShownDelivery(delivery: ShownDelivery) {
  const { endpointId, endpointUrl, eventId, eventType, status, attempts } = delivery;
  const { createdAt, dueAt, attemptedAt, answerStatus, problem } = delivery;
  return {
    endpointId,
    endpointUrl,
    eventId,
    eventType,
    status,
    attempts,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: dueAt === null ? null : dueAt.toISOString(),
    lastAttempt: attemptedAt === null ? null : { at: attemptedAt.toISOString(), status: answerStatus, problem },
  };
}

const PINNABLE = KNOWN_VERSIONS.filter(isPinnable);

export const EndpointField = {
  url: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description:
      'The URL that gets the events: HTTPS, with a public host, without credentials and fragment. With test keys of a sandbox also HTTP, and this machine.',
    examples: ['https://shop.example/webhooks'],
  }),
  events: Type.Array(namedEnum('EventSubscription', ['*', ...EVENT_PATTERNS]), {
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
    description: 'The types to deliver. `payment.*` stands for all types that begin so, `*` for all.',
    examples: [['payment.*', 'refund.succeeded']],
  }),
  merchantIds: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^[!-~]+$', 'x-rule': 'must be an id' }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Only events of these merchants. Null: all merchants that the key may act for.',
    }),
  ),
  description: nullable(textOf(500, 'A note of your own.')),
  apiVersion: enumOf(PINNABLE, 'The version of the API that bodies are in.'),
  status: namedEnum(
    'WebhookEndpointStatus',
    ENDPOINT_STATUSES,
    'A disabled endpoint gets no deliveries. Those that were pending continue when it is active again.',
  ),
};

export const EndpointBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `whe_`.', examples: ['whe_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    url: Type.String(),
    events: Type.Array(Type.String()),
    merchantIds: nullable(Type.Array(Type.String())),
    description: nullable(Type.String()),
    status: EndpointField.status,
    apiVersion: Type.String(),
    createdAt: Timestamp,
  },
  { title: 'WebhookEndpoint' },
);

export const EndpointWithSecret = Type.Object(
  {
    ...EndpointBody.properties,
    secret: Type.String({
      description: 'Verifies signatures. It is shown only here: store it.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
    }),
  },
  { title: 'WebhookEndpointWithSecret' },
);

export const DeliveryBody = Type.Object(
  {
    id: Type.String({ description: 'The id of the event: an endpoint has one delivery of each event.' }),
    eventId: Type.String(),
    eventType: Type.String(),
    status: namedEnum('DeliveryStatus', DELIVERY_STATUSES, '`failed`: it is not attempted again by itself.'),
    attempts: Type.Integer({ minimum: 0, description: 'Attempts that have a result.' }),
    createdAt: Timestamp,
    nextAttemptAt: nullable({
      ...Timestamp,
      description: 'Null when the delivery is over, and while it is being attempted.',
    } as typeof Timestamp),
    request: Type.Object(
      {
        url: Type.String(),
        headers: Type.Record(Type.String(), Type.String()),
        body: Type.Unsafe<object | null>({ type: ['object', 'null'], description: 'The event.' }),
      },
      { title: 'DeliveryRequest' },
    ),
    lastAttempt: Type.Unsafe<object | null>({
      ...Type.Object(
        {
          at: Timestamp,
          latencyMs: Type.Integer({ minimum: 0 }),
          status: nullable(Type.Integer({ description: 'The HTTP status of the answer. Null: there was no answer.' })),
          answer: nullable(Type.String({ description: 'The first 4 KB of the answer.' })),
          problem: nullable(Type.String()),
        },
        { title: 'DeliveryAttempt' },
      ),
      type: ['object', 'null'],
    }),
  },
  { title: 'WebhookDelivery' },
);

export const ShownDeliveryBody = Type.Object(
  {
    endpointId: Type.String(),
    endpointUrl: Type.String(),
    eventId: Type.String({ description: 'Also the id of the delivery.' }),
    eventType: Type.String(),
    status: DeliveryBody.properties.status,
    attempts: DeliveryBody.properties.attempts,
    createdAt: Timestamp,
    nextAttemptAt: nullable({ ...Timestamp, description: 'Null when the delivery is over.' } as typeof Timestamp),
    lastAttempt: Type.Unsafe<object | null>({
      ...Type.Object(
        {
          at: Timestamp,
          status: nullable(Type.Integer({ description: 'The HTTP status of the answer. Null: there was no answer.' })),
          problem: nullable(Type.String()),
        },
        { title: 'PaymentDeliveryAttempt' },
      ),
      type: ['object', 'null'],
    }),
  },
  { title: 'PaymentDelivery' },
);
