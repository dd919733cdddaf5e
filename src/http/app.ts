import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyReply, type FastifyRequest, type FastifyServerOptions, type RouteOptions } from 'fastify';
import { ApiError } from '../errors.ts';
import { unshifted } from '../runtime/shifted-clock.ts';
import { checkoutRoutes } from './checkout/checkout-routes.ts';
import { dashboardRoutes } from './dashboard/dashboard-routes.ts';
import { demoRoutes } from './demo/demo-routes.ts';
import type { App, HttpDeps } from './deps.ts';
import { createGates, type Gates, guardRoutes } from './entry/access.ts';
import { CROSS_ORIGIN_HEADERS, GATEWAY_PREFIX, isCrossOrigin, X402_PREFIX } from './entry/cross-origin.ts';
import { observe } from './entry/observe.ts';
import { addressGroup } from './entry/rate-limit.ts';
import { readRequests } from './entry/request-format.ts';
import { createRequestIds } from './entry/request-ids.ts';
import { answerBrokenRequest, answerExpectation, refuseWithoutHost, SERVER_OPTIONS } from './entry/server-options.ts';
import { traceRequests } from './entry/trace-requests.ts';
import { errorSender, UNAVAILABLE } from './errors.ts';
import { linkPageRoutes } from './links/link-page-routes.ts';
import { describeApi } from './openapi.ts';
import { posRoutes } from './pos/pos-routes.ts';
import { receiptPageRoutes } from './receipts/receipt-page-routes.ts';
import { referenceRoutes } from './reference/reference-routes.ts';
import { acceptedAssetRoutes } from './routes/accepted-assets.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { assetRoutes } from './routes/assets.ts';
import { auditLogRoutes } from './routes/audit-log.ts';
import { brandingRoutes } from './routes/branding.ts';
import { currencyRoutes } from './routes/currencies.ts';
import { eventRoutes } from './routes/events.ts';
import { exportRoutes } from './routes/exports.ts';
import { gatewayRoutes } from './routes/gateway.ts';
import { lateMoneyRoutes } from './routes/late-money.ts';
import { merchantRoutes } from './routes/merchants.ts';
import { operatorRoutes } from './routes/operator.ts';
import { passkeyRoutes } from './routes/passkeys.ts';
import { paymentLinkRoutes } from './routes/payment-links.ts';
import { paymentListRoutes } from './routes/payment-lists.ts';
import { paymentRoutes } from './routes/payments.ts';
import { payoutRoutes } from './routes/payouts.ts';
import { peopleRoutes } from './routes/people.ts';
import { receiptRoutes } from './routes/receipts.ts';
import { refundRoutes } from './routes/refunds.ts';
import { requestLogRoutes } from './routes/request-log.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { settlementRoutes } from './routes/settlements.ts';
import { statisticsRoutes } from './routes/statistics.ts';
import { systemRoutes } from './routes/system.ts';
import { testClockRoutes } from './routes/test-clock.ts';
import { timelineRoutes } from './routes/timeline.ts';
import { webhookDeliveryRoutes } from './routes/webhook-deliveries.ts';
import { webhookEndpointRoutes } from './routes/webhook-endpoints.ts';
import { x402Routes } from './routes/x402.ts';
import { guideRoutes } from './site/guide-routes.ts';
import { siteRoutes } from './site/site-routes.ts';
import { wantsPage } from './site/wants-page.ts';
import { withoutSlash } from './site/without-slash.ts';

/** The Fastify options that a caller may set. Apps of one process may share compiled schemas. */
export type AppOptions = Pick<FastifyServerOptions, 'schemaController'>;

/** The whole HTTP service. `main.ts` makes it listen. Tests may inject requests instead. */
export async function buildApp(deps: HttpDeps, options: AppOptions = {}): Promise<App> {
  const mark = answerMarker(deps);
  const gates = createGates(deps);
  const app = createApp(deps, { mark, options });
  app.server.on('checkExpectation', answerExpectation);
  app.setErrorHandler(errorSender(deps));
  app.setNotFoundHandler(() => {
    throw noSuchRoute();
  });
  traceRequests(app, deps.world.tracing);
  const methods = followMethods(app);
  const isStopping = followStop(app, deps);
  const clock = unshifted(deps.world.clock);
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAtMs = clock.nowMs();
    mark(request, reply);
    const meant = request.is404 && wantsPage(request) ? withoutSlash(app, request.url) : undefined;
    if (meant !== undefined) return void reply.redirect(meant, 308);
    // Runs before the body is read, because the body of a request to an unknown route does not matter.
    done(
      strangerLimit(gates, request, reply) ??
        refuseWithoutHost(request.raw) ??
        (request.is404 ? noSuchRoute() : isStopping() ? stopping() : undefined),
    );
  });
  if (deps.testClock !== undefined) dateBySandbox(app, deps);
  observe(app, deps);
  readRequests(app);
  await describeApi(app);
  guardRoutes(app, gates);

  await app.register(systemRoutes, deps);
  await app.register(referenceRoutes, deps);
  await app.register(merchantRoutes, deps);
  await app.register(brandingRoutes, deps);
  await app.register(currencyRoutes, deps);
  await app.register(settlementRoutes, deps);
  await app.register(assetRoutes, deps);
  await app.register(acceptedAssetRoutes, deps);
  await app.register(paymentRoutes, deps);
  await app.register(paymentListRoutes, deps);
  await app.register(exportRoutes, deps);
  await app.register(statisticsRoutes, deps);
  await app.register(receiptRoutes, deps);
  await app.register(timelineRoutes, deps);
  await app.register(refundRoutes, deps);
  await app.register(lateMoneyRoutes, deps);
  await app.register(paymentLinkRoutes, deps);
  await app.register(payoutRoutes, deps);
  await app.register(eventRoutes, deps);
  await app.register(webhookEndpointRoutes, deps);
  await app.register(webhookDeliveryRoutes, deps);
  await app.register(sessionRoutes, deps);
  await app.register(passkeyRoutes, deps);
  await app.register(peopleRoutes, deps);
  await app.register(auditLogRoutes, deps);
  await app.register(apiKeyRoutes, deps);
  await app.register(requestLogRoutes, deps);
  await app.register(operatorRoutes, deps);
  await app.register(gatewayRoutes, { ...deps, prefix: GATEWAY_PREFIX });
  await app.register(x402Routes, { ...deps, prefix: X402_PREFIX });
  await app.register(checkoutRoutes, deps);
  await app.register(linkPageRoutes, deps);
  await app.register(receiptPageRoutes, deps);
  await app.register(dashboardRoutes, deps);
  await app.register(posRoutes, deps);
  await app.register(siteRoutes, deps);
  await app.register(guideRoutes, deps);
  if (deps.testClock !== undefined) await app.register(testClockRoutes, { ...deps, testClock: deps.testClock });
  if (deps.sandbox !== undefined) await app.register(demoRoutes, { ...deps, sandbox: deps.sandbox });
  methods.refuseOthers();
  await app.ready();
  return app;
}

/**
 * Applies a rate limit to unknown routes and preflight requests. They have no gate of a route, so they count against the limit of
 * the client's address here.
 */
function strangerLimit({ limits }: Gates, request: FastifyRequest, reply: FastifyReply): Error | undefined {
  if (!request.is404 && request.method !== 'OPTIONS') return undefined;
  try {
    (request.is404 ? limits.address : limits.cheap).take(reply, addressGroup(request.ip));
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function createApp(deps: HttpDeps, { mark, options }: { mark: AnswerMarker; options: AppOptions }): App {
  const { config } = deps;
  const sendError = errorSender(deps);
  return Fastify({
    ...SERVER_OPTIONS,
    ...options,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    clientErrorHandler: answerBrokenRequest,
    // Answers requests that the router cannot read. No hook runs for them, so the answer is marked here.
    frameworkErrors: (error, request, reply) => {
      mark(request, reply);
      return sendError(error, request, reply);
    },
    genReqId: createRequestIds(deps.world.random),
  }).withTypeProvider<TypeBoxTypeProvider>();
}

function noSuchRoute(): ApiError {
  return new ApiError('invalid_params', 'There is no such route.', { status: 404 });
}

/** Records the methods of each path as routes are added. `refuseOthers` then answers 405 for every other method. */
function followMethods(app: App) {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const known = methodsByUrl.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methodsByUrl.set(url, known);
  });
  /** True if a wildcard route answers the preflight OPTIONS for this path. */
  const isPreflighted = (url: string) =>
    [...methodsByUrl].some(
      ([wildcard, known]) => wildcard.endsWith('*') && known.has('OPTIONS') && url.startsWith(wildcard.slice(0, -1)),
    );
  return {
    refuseOthers() {
      for (const [url, known] of [...methodsByUrl]) {
        if (url.endsWith('*')) continue;
        const others = METHODS.filter((method) => !known.has(method) && !(method === 'OPTIONS' && isPreflighted(url)));
        const allow = [...known].sort().join(', ');
        app.route({
          method: others,
          url,
          schema: { hide: true },
          onRequest: (_request, reply, done) => {
            reply.header('Allow', allow);
            done(new ApiError('invalid_params', `This route takes ${allow}.`, { status: 405 }));
          },
          handler: () => {},
        });
      }
    },
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Returns a function that tells whether the listener has begun to close. From then on, new requests on open connections are refused. */
function followStop(app: App, { drain }: HttpDeps): () => boolean {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
    drain.begin();
  });
  return () => isStopping;
}

/** The answer on connections that are still open while the node stops. The client retries on another node. */
function stopping(): ApiError {
  return new ApiError('internal_error', 'This node is stopping. Try again.', UNAVAILABLE);
}

/** Sets the response header `Date` to the clock of the sandbox, which can be moved. Pages set their countdown by this header. */
function dateBySandbox(app: App, { world }: HttpDeps): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    reply.header('Date', new Date(world.clock.nowMs()).toUTCString());
    done(null, payload);
  });
}

type AnswerMarker = (request: FastifyRequest, reply: FastifyReply) => void;

function answerMarker({ config }: HttpDeps): AnswerMarker {
  const headers: Record<string, string> = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  };
  if (config.publicUrl.startsWith('https:')) headers['Strict-Transport-Security'] = 'max-age=31536000';
  return (request, reply) => {
    reply.headers(headers).header('Request-Id', request.id);
    if (isCrossOrigin(request.url)) reply.headers(CROSS_ORIGIN_HEADERS);
  };
}
