const EXPOSED = [
  'retry-after',
  'request-id',
  'etag',
  'pay-version',
  'wcp-version',
  'ratelimit',
  'ratelimit-policy',
  'payment-required',
  'payment-response',
];
const ALLOWED = [
  'content-type',
  'api-key',
  'app-id',
  'client-id',
  'wcp-version',
  'pay-version',
  'api-version',
  'sdk-name',
  'sdk-version',
  'sdk-platform',
  'if-none-match',
  'request-id',
  // Clients of x402 send `access-control-expose-headers` with every payment.
  'payment-signature',
  'access-control-expose-headers',
];

/**
 * Prefixes of the routes that pages of any origin may call, because wallets run in browsers. Credentials are in headers, never in
 * cookies.
 */
export const GATEWAY_PREFIX = '/v1/gateway';
export const X402_PREFIX = '/x402';

export function isCrossOrigin(url: string): boolean {
  return url.startsWith(GATEWAY_PREFIX) || url.startsWith(`${X402_PREFIX}/`);
}

/** Headers of every answer of the cross-origin routes, refusals included: otherwise a page could not read why it was refused. */
export const CROSS_ORIGIN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(', '),
};

export const PREFLIGHT = {
  origin: '*',
  methods: ['GET', 'POST'],
  allowedHeaders: ALLOWED,
  exposedHeaders: EXPOSED,
  maxAge: 86_400,
  // An OPTIONS request that is no preflight gets the same answer as a preflight: the plugin's refusal is not in the error
  // catalogue.
  strictPreflight: false,
};
