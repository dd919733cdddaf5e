import { connect, type TillOptions } from './connection.ts';
import { eventsOf } from './events.ts';
import { lateMoneyOf } from './late-money.ts';
import { merchantsOf } from './merchants.ts';
import { paymentLinksOf } from './payment-links.ts';
import { paymentsOf } from './payments.ts';
import { paywallOf } from './paywall.ts';
import { receiptsOf } from './receipts.ts';
import { refundsOf } from './refunds.ts';
import { settlementDestinationsOf } from './settlement-destinations.ts';
import { webhookEndpointsOf } from './webhook-endpoints.ts';
import * as webhooks from './webhooks.ts';

export type Till = ReturnType<typeof createTill>;

/**
 * A client of one gateway, with one API key.
 *
 * Every POST has an `Idempotency-Key`. Requests without an answer, or with 429, 502, 503 or 504, are sent again a few times, with
 * the same `Idempotency-Key` and growing pauses; `Retry-After` is honoured. Errors are `ApiError` and `ConnectionError`.
 *
 * @example
 * const till = createTill({ baseUrl, apiKey, merchantId });
 * const { status } = await till.payments.status(paymentId);
 * console.log(status);
 */
export function createTill(options: TillOptions) {
  const connection = connect(options);
  return {
    payments: paymentsOf(connection),
    refunds: refundsOf(connection),
    lateMoney: lateMoneyOf(connection),
    paymentLinks: paymentLinksOf(connection),
    receipts: receiptsOf(connection),
    merchants: merchantsOf(connection),
    settlementDestinations: settlementDestinationsOf(connection),
    events: eventsOf(connection),
    webhookEndpoints: webhookEndpointsOf(connection),
    paywall: paywallOf(connection),
  };
}

// biome-ignore-start lint/performance/noBarrelFile: this is the entry of the package.
export type * from './api-types.ts';
export type { CallOptions, TillOptions } from './connection.ts';
export { ApiError, ConnectionError, TillError, WaitTimeoutError, WebhookError } from './errors.ts';
export type { FollowOptions } from './events.ts';
export type { List } from './list.ts';
export type { PaymentPageFor, StatusOptions, WaitOptions } from './payments.ts';
export type { NodeResponse, PaidRequest, PaywallOptions } from './paywall.ts';
export type { NodeRequest } from './paywall-ticket.ts';
export { webhooks };
// biome-ignore-end lint/performance/noBarrelFile: this is the entry of the package.
