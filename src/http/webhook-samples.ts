import type { Sample } from './sample.ts';

const CREATED_AT = '2026-02-18T09:30:00.000Z';
const ENDPOINT = {
  id: 'whe_01KHRZ3A5JZ0K2M4N6P8Q0R2S4',
  url: 'https://corner-coffee.example/webhooks',
  events: ['payment.*', 'refund.succeeded'],
  merchantIds: null,
  description: null,
  status: 'active',
  apiVersion: '2026-02-18',
  createdAt: CREATED_AT,
};
const ENDPOINT_ID = { id: ENDPOINT.id };
const WEBHOOK_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD3eU3mN1cEjI=';

interface SampleEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
}

/** Examples of the webhook routes: endpoints, and deliveries of the given event. */
export function webhookSamples(paymentId: string, paidEvent: SampleEvent): Readonly<Record<string, Sample>> {
  const DELIVERY = {
    id: paidEvent.id,
    eventId: paidEvent.id,
    eventType: paidEvent.type,
    status: 'pending',
    attempts: 1,
    createdAt: paidEvent.createdAt,
    nextAttemptAt: '2026-02-18T09:30:46.500Z',
    request: { url: ENDPOINT.url, headers: { 'webhook-id': paidEvent.id }, body: paidEvent },
    lastAttempt: {
      at: paidEvent.createdAt,
      latencyMs: 84,
      status: 503,
      answer: 'Back in a minute',
      problem: 'The receiver answered 503.',
    },
  };

  const { id: _, request, lastAttempt, ...delivery } = DELIVERY;
  const SHOWN_DELIVERY = {
    endpointId: ENDPOINT.id,
    endpointUrl: request.url,
    ...delivery,
    lastAttempt: { at: lastAttempt.at, status: lastAttempt.status, problem: lastAttempt.problem },
  };

  return {
    'post /v1/webhook-endpoints': {
      body: { url: ENDPOINT.url, events: ENDPOINT.events },
      answer: { webhookEndpoint: { ...ENDPOINT, secret: WEBHOOK_SECRET } },
    },
    'get /v1/webhook-endpoints': { answer: { webhookEndpoints: [ENDPOINT] } },
    'get /v1/webhook-endpoints/{id}': { params: ENDPOINT_ID, answer: { webhookEndpoint: ENDPOINT } },
    'patch /v1/webhook-endpoints/{id}': {
      params: ENDPOINT_ID,
      body: { events: ['*'] },
      answer: { webhookEndpoint: { ...ENDPOINT, events: ['*'] } },
    },
    'delete /v1/webhook-endpoints/{id}': { params: ENDPOINT_ID, answer: { id: ENDPOINT.id, deleted: true } },
    'post /v1/webhook-endpoints/{id}/rotate-secret': {
      params: ENDPOINT_ID,
      body: { overlapSeconds: 86_400 },
      answer: { webhookEndpoint: { ...ENDPOINT, secret: WEBHOOK_SECRET } },
    },
    'post /v1/webhook-endpoints/{id}/test': { params: ENDPOINT_ID, body: {}, answer: { eventId: paidEvent.id } },
    'get /v1/webhook-endpoints/{id}/deliveries': {
      params: ENDPOINT_ID,
      answer: { deliveries: [DELIVERY], nextCursor: null },
    },
    'get /v1/payments/{id}/webhook-deliveries': {
      params: { id: paymentId },
      answer: { deliveries: [SHOWN_DELIVERY] },
    },
    'post /v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver': {
      params: { ...ENDPOINT_ID, deliveryId: DELIVERY.id },
      body: {},
      answer: { delivery: { ...DELIVERY, nextAttemptAt: paidEvent.createdAt } },
    },
    'post /v1/webhook-endpoints/{id}/redeliver': {
      params: ENDPOINT_ID,
      body: { since: CREATED_AT },
      answer: { since: CREATED_AT },
    },
  };
}
