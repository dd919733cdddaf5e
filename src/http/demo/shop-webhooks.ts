import type { AddressInfo } from 'node:net';
import { verify } from '../../../sdk/src/webhooks.ts';
import type { App } from '../deps.ts';
import { type ApiCall, callApi, type ShopDeps } from './demo-shop.ts';
import type { ShopEvents } from './shop-events.ts';

export const WEBHOOKS_AT = '/demo/webhooks';
/** Marks the shop's endpoints among those that a developer registers with the same key. */
const DESCRIPTION = 'Demo shop';
/** Nobody waits for the registration, and without it the shop gets no webhooks until the next start. */
const ATTEMPTS = 300;

interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly description: string | null;
}

/** The shop's webhook endpoint, used as any shop would use it: by the API, and with the client library. */
export interface ShopWebhooks {
  /** Registers the address of this node, or gives its endpoint a new secret: the shop keeps the secret in memory alone. */
  register(): Promise<void>;
  /** Takes a webhook. Returns false if its signature is wrong. */
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
    // Addresses of earlier starts, at which nobody has answered for days.
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

/** This machine's own address of the listener. A listener on one other address is not reached there, and gets no webhooks. */
function loopbackOf({ address, port }: AddressInfo): string {
  return address === '::1' ? `[::1]:${port}` : `127.0.0.1:${port}`;
}
