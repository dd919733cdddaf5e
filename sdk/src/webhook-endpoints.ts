import type { Deleted } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';

const PATH = '/v1/webhook-endpoints';

/** A receiver of webhooks. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  /** The types of events that it gets, such as `payment.succeeded`, `payment.*` or `*`. */
  events: string[];
  /** The merchants whose events it gets; null for all. */
  merchantIds: string[] | null;
  description: string | null;
  status: 'active' | 'disabled';
  /** The version of the API that the events are in. */
  apiVersion: string;
  createdAt: string;
}

export interface WebhookEndpointWithSecret extends WebhookEndpoint {
  /** `whsec_…`, which signs its webhooks. It is shown only now. */
  secret: string;
}

export interface NewWebhookEndpoint {
  url: string;
  events?: readonly string[] | undefined;
  merchantIds?: readonly string[] | null | undefined;
  description?: string | null | undefined;
  apiVersion?: string | undefined;
}

export type WebhookEndpointChange = Partial<NewWebhookEndpoint> & { status?: 'active' | 'disabled' | undefined };

interface One<T> {
  readonly webhookEndpoint: T;
}

export function webhookEndpointsOf(connection: Connection) {
  const pathOf = (id: string) => `${PATH}/${segment(id)}`;
  return {
    /**
     * Registers a receiver. Store the secret: it is shown only here. After a `ConnectionError`, look into the list before
     * you try again.
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
     * A receiver.
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
     * Changes the fields that are named.
     *
     * @example
     * await till.webhookEndpoints.update(endpointId, { status: 'disabled' });
     */
    async update(id: string, change: WebhookEndpointChange, options?: CallOptions): Promise<WebhookEndpoint> {
      const call = { method: 'PATCH', path: pathOf(id), body: change } as const;
      return (await connection.ask<One<WebhookEndpoint>>(call, options)).webhookEndpoint;
    },

    /**
     * Removes a receiver, with its deliveries.
     *
     * @example
     * await till.webhookEndpoints.delete(endpointId);
     */
    delete(id: string, options?: CallOptions): Promise<Deleted> {
      return connection.ask({ method: 'DELETE', path: pathOf(id), isRepeatable: false }, options);
    },

    /**
     * Makes a new secret. For a while webhooks are signed with both, so give `webhooks.verify` both.
     *
     * @example
     * const { secret } = await till.webhookEndpoints.rotateSecret(endpointId);
     * console.log(secret);
     */
    async rotateSecret(id: string, options?: CallOptions): Promise<WebhookEndpointWithSecret> {
      const call = { method: 'POST', path: `${pathOf(id)}/rotate-secret`, isRepeatable: false } as const;
      return (await connection.ask<One<WebhookEndpointWithSecret>>(call, options)).webhookEndpoint;
    },
  };
}
