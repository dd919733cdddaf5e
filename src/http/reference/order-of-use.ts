/**
 * The order in which a shop meets the endpoints, then a wallet, then a monitor: the reference lists them so. An endpoint
 * that is missing here follows the others of its tag.
 */
export const ORDER_OF_USE: readonly string[] = [
  'post /v1/merchants',
  'get /v1/merchants/{merchantId}',
  'get /v1/merchants',
  'patch /v1/merchants/{merchantId}',
  'put /v1/merchants/{merchantId}/status',
  'get /v1/merchants/{merchantId}/branding',
  'patch /v1/merchants/{merchantId}/branding',
  'delete /v1/merchants/{merchantId}',

  'post /v1/merchants/{merchantId}/settlements/crypto',
  'get /v1/merchants/{merchantId}/settlements',
  'put /v1/merchants/{merchantId}/settlements/crypto/{id}',
  'delete /v1/merchants/{merchantId}/settlements/crypto/{id}',
  'get /v1/assets',

  'post /v1/payments',
  'get /v1/payments/{id}/status',
  'get /v1/payments/{id}',
  'get /v1/payments/{id}/receipt',
  'get /v1/payments/{id}/timeline',
  'post /v1/payments/{id}/cancel',
  'get /v1/merchants/payments',
  'get /v1/payments',
  'get /v1/exports/payments',
  'get /v1/statistics/payments',
  'get /v1/statistics/attention',

  'post /v1/refunds',
  'get /v1/refunds/{id}',
  'get /v1/refunds',

  'get /v1/payouts',

  'post /v1/payment-links',
  'get /v1/payment-links/{id}',
  'get /v1/payment-links',
  'patch /v1/payment-links/{id}',

  'get /v1/events',
  'get /v1/events/{id}',

  'post /v1/webhook-endpoints',
  'post /v1/webhook-endpoints/{id}/test',
  'get /v1/webhook-endpoints/{id}/deliveries',
  'get /v1/payments/{id}/webhook-deliveries',
  'post /v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver',
  'post /v1/webhook-endpoints/{id}/redeliver',
  'get /v1/webhook-endpoints',
  'get /v1/webhook-endpoints/{id}',
  'patch /v1/webhook-endpoints/{id}',
  'post /v1/webhook-endpoints/{id}/rotate-secret',
  'delete /v1/webhook-endpoints/{id}',

  'post /v1/people',
  'post /v1/sessions',
  'post /v1/sessions/challenge',
  'get /v1/sessions/current',
  'post /v1/sessions/current/challenge',
  'post /v1/passkeys',
  'post /v1/sessions/current/verify',
  'get /v1/sessions',
  'delete /v1/sessions/current',
  'delete /v1/sessions/{id}',
  'get /v1/passkeys',
  'delete /v1/passkeys/{id}',
  'get /v1/people',
  'patch /v1/people/{id}',
  'post /v1/people/{id}/link',
  'delete /v1/people/{id}',
  'get /v1/audit-log',

  'post /v1/api-keys',
  'get /v1/api-keys',
  'post /v1/api-keys/{id}/rotate',
  'delete /v1/api-keys/{id}',
  'get /v1/request-log',

  'get /v1/operator/status',
  'get /v1/operator/networks',
  'get /v1/operator/partners',

  'get /v1/gateway/payment/{id}',
  'post /v1/gateway/payment/{id}/options',
  'post /v1/gateway/payment/{id}/fetch',
  'post /v1/gateway/payment/{id}/confirm',
  'post /v1/gateway/payment/{id}/address',
  'get /v1/gateway/payment/{id}/status',
  'post /v1/gateway/payment/{id}/cancel',
  'post /v1/gateway/payment/{id}/receipt-email',

  'get /x402/{id}',

  'get /v1/gateway/refund/{id}',
  'post /v1/gateway/refund/{id}/actions',
  'post /v1/gateway/refund/{id}/confirm',

  'get /v1/test/clock',
  'post /v1/test/clock',

  'get /ready',
  'get /health',
];
