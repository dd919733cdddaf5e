import type {
  Deleted,
  DeliveryPage,
  DeliveryQuery,
  NewWebhookEndpoint,
  SecretRotation,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointWithSecret,
} from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { type List, listOf } from './list.ts';

const PATH = '/v1/webhook-endpoints';

interface One<T> {
  readonly webhookEndpoint: T;
}

export function webhookEndpointsOf(connection: Connection) {
  const pathOf = (id: string) => `${PATH}/${segment(id)}`;
  return {
    /**
     * Registers a receiver of webhooks. Store the secret: no later answer contains it. After a `ConnectionError`, check the list of
     * receivers before you try again.
     *
     * @example
     * const endpoint = await till.webhookEndpoints.create({
     *   url: 'https://shop.example/hook',
     *   events: ['payment.*', 'refund.*'],
     * });
     * console.log(endpoint.secret);
     */
    async create(endpoint: NewWebhookEndpoint, options?: CallOptions): Promise<WebhookEndpointWithSecret> {
      const call = { method: 'POST', path: PATH, body: endpoint, isRepeatable: false } as const;
      return (await connection.ask<One<WebhookEndpointWithSecret>>(call, options)).webhookEndpoint;
    },

    /**
     * One receiver of webhooks.
     *
     * @example
     * const { url, status } = await till.webhookEndpoints.get(endpointId);
     * console.log(url, status);
     */
    async get(id: string, options?: CallOptions): Promise<WebhookEndpoint> {
      return (await connection.ask<One<WebhookEndpoint>>({ method: 'GET', path: pathOf(id) }, options)).webhookEndpoint;
    },

    /**
     * All receivers, at most 20.
     *
     * @example
     * for (const endpoint of await till.webhookEndpoints.list()) console.log(endpoint.url);
     */
    async list(options?: CallOptions): Promise<WebhookEndpoint[]> {
      const call = { method: 'GET', path: PATH } as const;
      return (await connection.ask<{ webhookEndpoints: WebhookEndpoint[] }>(call, options)).webhookEndpoints;
    },

    /**
     * Changes the given fields of a receiver.
     *
     * @example
     * await till.webhookEndpoints.update(endpointId, { status: 'disabled' });
     */
    async update(id: string, change: WebhookEndpointChange, options?: CallOptions): Promise<WebhookEndpoint> {
      const call = { method: 'PATCH', path: pathOf(id), body: change } as const;
      return (await connection.ask<One<WebhookEndpoint>>(call, options)).webhookEndpoint;
    },

    /**
     * Removes a receiver, and stops its deliveries.
     *
     * @example
     * await till.webhookEndpoints.delete(endpointId);
     */
    delete(id: string, options?: CallOptions): Promise<Deleted> {
      return connection.ask({ method: 'DELETE', path: pathOf(id) }, options);
    },

    /**
     * Creates a new secret. For a day, or for `overlapSeconds`, webhooks are signed with the older secrets, too, so that a
     * receiver with either secret accepts them.
     *
     * @example
     * const { secret } = await till.webhookEndpoints.rotateSecret(endpointId, { overlapSeconds: 3600 });
     * console.log(secret);
     */
    async rotateSecret(
      id: string,
      rotation: SecretRotation = {},
      options?: CallOptions,
    ): Promise<WebhookEndpointWithSecret> {
      const path = `${pathOf(id)}/rotate-secret`;
      const call = { method: 'POST', path, body: rotation, isRepeatable: false } as const;
      return (await connection.ask<One<WebhookEndpointWithSecret>>(call, options)).webhookEndpoint;
    },

    /**
     * Sends a test event to this receiver. The deliveries of the receiver show the result.
     *
     * @example
     * const { eventId } = await till.webhookEndpoints.test(endpointId);
     * console.log(eventId);
     */
    test(id: string, options?: CallOptions): Promise<{ eventId: string }> {
      return connection.ask({ method: 'POST', path: `${pathOf(id)}/test`, isRepeatable: false }, options);
    },

    /**
     * The deliveries to a receiver, newest events first.
     *
     * @example
     * for await (const delivery of till.webhookEndpoints.deliveries(endpointId, { status: 'failed' })) {
     *   console.log(delivery.eventType, delivery.lastAttempt?.status);
     * }
     */
    deliveries(id: string, query: DeliveryQuery = {}, options?: CallOptions): List<DeliveryPage, WebhookDelivery> {
      const path = `${pathOf(id)}/deliveries`;
      return listOf(connection, { path, query: { ...query } }, ({ deliveries }) => deliveries, options);
    },

    /**
     * Sends the event of a delivery again, even if it was delivered.
     *
     * @example
     * const { status } = await till.webhookEndpoints.redeliver(endpointId, deliveryId);
     * console.log(status); // pending
     */
    async redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<WebhookDelivery> {
      const path = `${pathOf(id)}/deliveries/${segment(deliveryId)}/redeliver`;
      const call = { method: 'POST', path, isRepeatable: false } as const;
      return (await connection.ask<{ delivery: WebhookDelivery }>(call, options)).delivery;
    },

    /**
     * Sends all events since a time again, including those of a time when the receiver was disabled.
     *
     * @example
     * await till.webhookEndpoints.redeliverSince(endpointId, new Date(Date.now() - 3_600_000).toISOString());
     */
    redeliverSince(id: string, since: string, options?: CallOptions): Promise<{ since: string }> {
      const call = { method: 'POST', path: `${pathOf(id)}/redeliver`, body: { since }, isRepeatable: false } as const;
      return connection.ask(call, options);
    },
  };
}
