import type { AddressInfo } from 'node:net';
import { verify } from '../../../sdk/src/webhooks.ts';
import type { App } from '../deps.ts';
import { type ApiCall, callApi, type ShopDeps } from './demo-shop.ts';
import type { ShopEvents } from './shop-events.ts';

export const WEBHOOKS_AT = '/demo/webhooks';
/** The description of the shop's endpoints. It distinguishes them from endpoints that a developer registers with the same key. */
const DESCRIPTION = 'Demo shop';
/**
 * The most attempts to register the shop's endpoint. Nobody waits for the registration, so it may take long. Without it the shop
 * gets no webhooks until the next start.
 */
const ATTEMPTS = 300;

interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly description: string | null;
}

/** The shop's webhook endpoint, used like that of any shop: with the API and the client library. */
export interface ShopWebhooks {
  /** Registers the URL of this node as an endpoint. An existing endpoint gets a new secret: the shop keeps secrets only in memory. */
  register(): Promise<void>;
  /** Verifies a webhook and stores its event. Returns false if the signature is wrong. */
  receive(
    body: Uint8Array,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): Promise<boolean>;
}

export function createShopWebhooks(app: App, deps: ShopDeps, events: ShopEvents): ShopWebhooks {
  const { sandbox } = deps;
  let secret: string | undefined;

  const call = <T>(method: ApiCall['method'], path: string, payload?: object) =>
    callApi<T>(app, deps, { method, url: `/v1/webhook-endpoints${path}`, payload, attempts: ATTEMPTS });

  async function obtainSecret(url: string): Promise<string> {
    const { webhookEndpoints } = await call<{ webhookEndpoints: readonly EndpointView[] }>('GET', '');
    const shops = webhookEndpoints.filter(({ description }) => description === DESCRIPTION);
    const own = shops.find((endpoint) => endpoint.url === url);
    // Deletes webhook endpoints of earlier runs of the shop that were disabled because they had not answered for days.
    for (const { id, status } of shops.filter((endpoint) => endpoint !== own)) {
      if (status === 'disabled') await call('DELETE', `/${id}`);
    }
    if (own === undefined) {
      const terms = { url, events: ['*'], merchantIds: [sandbox.merchantId], description: DESCRIPTION };
      return (await call<{ webhookEndpoint: { secret: string } }>('POST', '', terms)).webhookEndpoint.secret;
    }
    if (own.status !== 'active') await call('PATCH', `/${own.id}`, { status: 'active' });
    const rotated = await call<{ webhookEndpoint: { secret: string } }>('POST', `/${own.id}/rotate-secret`, {
      overlapSeconds: 0,
    });
    return rotated.webhookEndpoint.secret;
  }

  return {
    async register() {
      secret = await obtainSecret(`http://${loopbackOf(app.server.address() as AddressInfo)}${WEBHOOKS_AT}`);
    },
    async receive(body, headers) {
      if (secret === undefined) return false;
      const event = await verify(body, headers, secret).catch(() => undefined);
      if (event === undefined) return false;
      events.take(event);
      return true;
    },
  };
}

/**
 * The loopback address and port of the listener. A listener on another specific address cannot be reached by loopback, so it gets
 * no webhooks.
 */
function loopbackOf({ address, port }: AddressInfo): string {
  return address === '::1' ? `[::1]:${port}` : `127.0.0.1:${port}`;
}
