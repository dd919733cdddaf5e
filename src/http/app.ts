import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import underPressure from '@fastify/under-pressure';
import Fastify, { type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify';
import { ApiError } from '../errors.ts';
import { guardRoutes } from './access.ts';
import { CROSS_ORIGIN_HEADERS, CROSS_ORIGIN_PREFIX } from './cross-origin.ts';
import type { App, HttpDeps } from './deps.ts';
import { errorSender } from './errors.ts';
import { describeApi } from './openapi.ts';
import { readRequests } from './request-format.ts';
import { gatewayRoutes } from './routes/gateway.ts';
import { merchantRoutes } from './routes/merchants.ts';
import { paymentRoutes } from './routes/payments.ts';
import { settlementRoutes } from './routes/settlements.ts';
import { systemRoutes } from './routes/system.ts';
import { answerBrokenRequest, SERVER_OPTIONS } from './server-options.ts';

/** The whole HTTP side. `main.ts` makes it listen; tests may inject requests instead. */
export async function buildApp(deps: HttpDeps): Promise<App> {
  const mark = answerMarker(deps);
  const app = createApp(deps, mark);
  app.setErrorHandler(errorSender(deps));
  app.setNotFoundHandler(() => {
    throw noSuchRoute();
  });
  const methods = followMethods(app);
  app.addHook('onRequest', (request, reply, done) => {
    mark(request, reply);
    done();
  });
  // Before the body is read: what is wrong with the body of a request to nowhere does not matter.
  app.addHook('onRequest', (request, _reply, done) => done(request.is404 ? noSuchRoute() : undefined));
  refuseWhenStopping(app, deps);
  await shedLoad(app, deps);
  observe(app, deps);
  readRequests(app);
  await describeApi(app);
  guardRoutes(app, deps);

  await app.register(systemRoutes, deps);
  await app.register(merchantRoutes, deps);
  await app.register(settlementRoutes, deps);
  await app.register(paymentRoutes, deps);
  await app.register(gatewayRoutes, { ...deps, prefix: CROSS_ORIGIN_PREFIX });
  methods.refuseOthers();
  await app.ready();
  return app;
}

function createApp(deps: HttpDeps, mark: AnswerMarker): App {
  const { config, world } = deps;
  const sendError = errorSender(deps);
  return Fastify({
    ...SERVER_OPTIONS,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    clientErrorHandler: answerBrokenRequest,
    // Requests the router cannot read pass no hook.
    frameworkErrors: (error, request, reply) => {
      mark(request, reply);
      return sendError(error, request, reply);
    },
    genReqId: (request) => {
      const given = request.headers['request-id'];
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given)
        ? given
        : `req_${Buffer.from(world.random.bytes(12)).toString('base64url')}`;
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
}

function noSuchRoute(): ApiError {
  return new ApiError('invalid_params', 'There is no such route.', { status: 404 });
}

/** Follows the routes as they are added; `refuseOthers` then answers 405 on their paths for every other method. */
function followMethods(app: App) {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const known = methodsByUrl.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methodsByUrl.set(url, known);
  });
  /** Whether a route with a wildcard answers the browser's OPTIONS for it. */
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

async function shedLoad(app: App, { config, metrics }: HttpDeps): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: config.maxEventLoopDelayMs,
    sampleInterval: 250,
    pressureHandler: (request) => {
      // Monitors must hear the truth about a busy node, not a refusal.
      if (request.routeOptions.config.access === undefined) return;
      metrics.refusals.inc({ reason: 'overloaded' });
      throw new ApiError('internal_error', 'This node is overloaded. Try again in a second.', UNAVAILABLE);
    },
  });
}

/** Whoever still has a connection when the node stops is told to come back, by then to another node. */
function refuseWhenStopping(app: App, { longPolls }: HttpDeps): void {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
    longPolls.release();
  });
  app.addHook('onRequest', (_request, _reply, done) => {
    done(isStopping ? new ApiError('internal_error', 'This node is stopping. Try again.', UNAVAILABLE) : undefined);
  });
}

const UNAVAILABLE = { status: 503, retryAfterS: 1 };

type AnswerMarker = (request: FastifyRequest, reply: FastifyReply) => void;

/** Sets the headers that every answer carries. */
function answerMarker({ config }: HttpDeps): AnswerMarker {
  const headers: Record<string, string> = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
  if (config.publicUrl.startsWith('https:')) headers['Strict-Transport-Security'] = 'max-age=31536000';
  return (request, reply) => {
    reply.headers(headers).header('Request-Id', request.id);
    if (request.url.startsWith(CROSS_ORIGIN_PREFIX)) reply.headers(CROSS_ORIGIN_HEADERS);
  };
}

/** One log line and one measurement per request. Only the path is logged: a query may hold what is nobody's business. */
function observe(app: App, { log, metrics }: HttpDeps): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, id: requestId, routeOptions, caller } = request;
    const seconds = reply.elapsedTime / 1000;
    const route = routeOptions.url ?? 'unknown';
    metrics.requestSeconds.observe({ method, route, status: reply.statusCode }, seconds);
    const key = caller?.via === 'key' ? { partner: caller.key.partnerId, key: caller.key.id } : {};
    const path = request.url.split('?', 1)[0];
    log.info(
      { requestId, method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime * 10) / 10, ...key },
      'request',
    );
    done();
  });
}
