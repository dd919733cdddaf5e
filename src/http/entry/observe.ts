import type { FastifyReply, FastifyRequest } from 'fastify';
import { redactApiKeys } from '../../domain/api-key.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { App, HttpDeps } from '../deps.ts';
import { beginPaying, endPaying } from './paying.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The arrival of the request, by the clock that test keys cannot move. */
    startedAtMs: number;
    /** The error in the answer to the request. */
    refusal: { readonly code: string; readonly message: string } | undefined;
  }
}

/** Paths and messages of recorded requests are cut at these lengths. */
const MAX_PATH = 300;
const MAX_MESSAGE = 500;

/**
 * Adds hooks that write one log line and one measurement per answer. Only the path is logged, because a query may contain private
 * data.
 */
export function observe(app: App, deps: HttpDeps): void {
  const { log, metrics, world, drain, paymentWork } = deps;
  const clock = unshifted(world.clock);
  app.decorateRequest('startedAtMs', 0);
  app.decorateRequest('isPaying', false);
  app.decorateRequest('refusal', undefined);
  app.addHook('onRoute', (route) => {
    const timers = new Map<number, { observe(seconds: number): void }>();
    const { priority, takesTurns = false } = route.config ?? {};
    if (priority === 'money' && !takesTurns && route.method !== 'GET') {
      route.preHandler = [...[route.preHandler ?? []].flat(), beginPaying(paymentWork)];
    }
    const onSend = (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void) => {
      const { statusCode: status } = reply;
      const ms = clock.nowMs() - request.startedAtMs;
      let timer = timers.get(status);
      if (timer === undefined) {
        timer = metrics.requestTimes.labels(request.method, route.url, String(status));
        timers.set(status, timer);
      }
      timer.observe(ms / 1000);
      endPaying(paymentWork, request);
      // A client that keeps its connection open would delay the stop of the node.
      if (drain.hasBegun) reply.header('Connection', 'close');
      logRequest(log, request, status, ms);
      recordRequest(deps, request, status, ms);
      done();
    };
    route.onSend = [...[route.onSend ?? []].flat(), onSend];
  });
}

function logRequest(
  log: HttpDeps['log'],
  { id: requestId, method, url, caller }: Pick<FastifyRequest, 'id' | 'method' | 'url' | 'caller'>,
  status: number,
  ms: number,
): void {
  if (!log.isLevelEnabled('info')) return;
  log.info({ requestId, method, path: url.split('?', 1)[0], status, ms, ...namesOf(caller) }, 'request');
}

/**
 * Notes a request for the log that the partner's developers read. Only requests with an API key are noted: the many requests of
 * the dashboard would hide them.
 */
function recordRequest({ requestLog, world }: HttpDeps, request: FastifyRequest, status: number, ms: number): void {
  const { caller } = request;
  if (caller?.via !== 'key') return;
  const { id: keyId, partnerId, mode } = caller.key;
  requestLog.note({ partnerId, mode }, status >= 400, () => ({
    at: new Date(world.clock.nowMs()),
    partnerId,
    mode,
    keyId,
    method: request.method,
    path: redactApiKeys(request.url.split('?', 1)[0] ?? '').slice(0, MAX_PATH),
    status,
    ms: Math.max(0, Math.round(ms)),
    code: request.refusal?.code ?? null,
    message: request.refusal === undefined ? null : redactApiKeys(request.refusal.message).slice(0, MAX_MESSAGE),
    requestId: request.id,
    address: request.ip,
  }));
}

function namesOf(caller: FastifyRequest['caller']): object {
  if (caller === undefined || caller.via === 'app') return {};
  const { partnerId: partner, id } = caller.rights;
  return caller.via === 'key' ? { partner, key: id } : { partner, person: id, session: caller.session.id };
}
