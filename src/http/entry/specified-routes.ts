/**
 * The routes of the specification, and the routes that existing wallets call in their place. Real clients send extra fields to
 * them, which are ignored. Every other route under `/v1` accepts exactly the fields of its schema.
 */
const SPECIFIED: ReadonlySet<string> = new Set([
  'GET /v1/merchants',
  'POST /v1/merchants',
  'GET /v1/merchants/:merchantId',
  'PATCH /v1/merchants/:merchantId',
  'DELETE /v1/merchants/:merchantId',
  'GET /v1/merchants/payments',
  'GET /v1/merchants/:merchantId/payments',
  'GET /v1/merchants/:merchantId/settlements',
  'POST /v1/merchants/:merchantId/settlements/crypto',
  'PUT /v1/merchants/:merchantId/settlements/crypto/:id',
  'DELETE /v1/merchants/:merchantId/settlements/crypto/:id',
  'GET /v1/payments',
  'POST /v1/payments',
  'GET /v1/payments/:id',
  'GET /v1/payments/:id/status',
  'POST /v1/payments/:id/cancel',
  'POST /v1/merchant/payment',
  'GET /v1/merchant/payment/:id/status',
  'POST /v1/refunds',
  'GET /v1/gateway/payment/:id',
  'GET /v1/gateway/payment/:id/status',
  'POST /v1/gateway/payment/:id/options',
  'POST /v1/gateway/payment/:id/fetch',
  'POST /v1/gateway/payment/:id/confirm',
  'POST /v1/gateway/payment/:id/cancel',
]);

/**
 * True for one of our own API routes, which accept exactly the fields of their schemas. Pages accept any query, because links get
 * tracking parameters.
 */
export function isOwnRoute({ method, url }: { readonly method: string | string[]; readonly url: string }): boolean {
  const names = [method].flat().map((name) => `${name === 'HEAD' ? 'GET' : name} ${url}`);
  return url.startsWith('/v1/') && !names.some((name) => SPECIFIED.has(name));
}
