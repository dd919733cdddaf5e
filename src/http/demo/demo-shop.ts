import type { App, DemoShop, HttpDeps } from '../deps.ts';

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly price: { readonly unit: string; readonly value: string };
  readonly priceText: string;
}

/** The products of the demo shop. One is priced in euros, so that a payer sees a price at par and a converted one. */
export const PRODUCTS: readonly Product[] = [
  {
    id: 'beans',
    name: 'Morning beans',
    text: 'Whole beans, medium roast, 250 g',
    price: { unit: 'iso4217/USD', value: '1400' },
    priceText: '$14.00',
  },
  {
    id: 'mug',
    name: 'Stoneware mug',
    text: 'Thrown by hand, holds 300 ml',
    price: { unit: 'iso4217/EUR', value: '1950' },
    priceText: '€19.50',
  },
  {
    id: 'kettle',
    name: 'Pour-over kettle',
    text: 'Slow, thin and steady, 0.9 l',
    price: { unit: 'iso4217/USD', value: '6800' },
    priceText: '$68.00',
  },
];

export interface ShopDeps extends HttpDeps {
  readonly sandbox: DemoShop;
}

/** The lifetime of an order's payment, long enough for a visitor to try everything. */
const LIFETIME_S = 15 * 60;
const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$)/;

export async function orderProduct(
  app: App,
  deps: ShopDeps,
  product: Product,
): Promise<{ readonly gatewayUrl: string }> {
  const { config, world } = deps;
  const reference = `DEMO-${Buffer.from(world.random.bytes(4)).toString('hex').toUpperCase()}`;
  const back = `${config.publicUrl}/demo/thanks?product=${product.id}`;
  // Payers are sent back only over HTTPS or to this machine. Otherwise the checkout ends on its own screen.
  const canReturn = config.publicUrl.startsWith('https:') || LOCAL.test(config.publicUrl);
  const payload = {
    amount: product.price,
    referenceId: reference,
    expiresAt: Math.floor(world.clock.nowMs() / 1000) + LIFETIME_S,
    ...(canReturn && { checkout: { successUrl: back, errorUrl: back } }),
  };
  return callApi(app, deps, { method: 'POST', url: '/v1/payments', payload });
}

export interface OrderState {
  readonly status: string;
  readonly isFinal: boolean;
  readonly info: { readonly txId: string } | null;
}

/** Reads the order with the shop's own key, because a redirect proves nothing. */
export function checkOrder(app: App, deps: ShopDeps, paymentId: string): Promise<OrderState> {
  return callApi(app, deps, { method: 'GET', url: `/v1/payments/${encodeURIComponent(paymentId)}/status` });
}

/**
 * Calls this gateway's API in process. Like every client it retries if the node is too busy, as nodes are while they start on a
 * busy machine. A retry is safe, because a refused request has done nothing.
 */
export async function callApi<T>(app: App, { sandbox, world }: ShopDeps, call: ApiCall): Promise<T> {
  const { method, url, payload, attempts = 3 } = call;
  const headers = { 'api-key': sandbox.apiKey, 'merchant-id': sandbox.merchantId };
  for (let attempt = 1; ; attempt += 1) {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    if (response.statusCode < 300) return response.json();
    const isRefused = response.statusCode === 503 && response.headers['retry-after'] !== undefined;
    // A stopping node refuses everything, so a retry is useless.
    if (!isRefused || attempt >= attempts || !app.server.listening) throw new DemoApiError(response.statusCode);
    await world.timers.sleep(Number(response.headers['retry-after']) * 1000);
  }
}

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly payload?: object | undefined;
  /** The most attempts. The pause between two attempts is the `Retry-After` of the refusal. */
  readonly attempts?: number;
}

export class DemoApiError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The API answered the demo shop with ${status}.`);
    this.name = 'DemoApiError';
    this.status = status;
  }
}
