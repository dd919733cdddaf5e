import cors from '@fastify/cors';
import type { App, HttpDeps } from '../deps.ts';

/** The routes wallets and the checkout call. */
export async function gatewayRoutes(app: App, _deps: HttpDeps): Promise<void> {
  // Wallets run in browsers and call from any origin, with credentials in headers, never in cookies.
  await app.register(cors, {
    origin: '*',
    methods: ['GET', 'POST'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 86_400,
  });
}

const ALLOWED_HEADERS = [
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
];
const EXPOSED_HEADERS = [
  'retry-after',
  'request-id',
  'etag',
  'pay-version',
  'wcp-version',
  'ratelimit',
  'ratelimit-policy',
];
