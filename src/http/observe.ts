import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App, HttpDeps } from './deps.ts';

/** One log line and one measurement per request. Only the path is logged: a query may hold what is nobody's business. */
export function observe(app: App, { log, metrics }: HttpDeps): void {
  app.addHook('onRoute', (route) => {
    const { url } = route;
    const timers = new Map<number, { observe(seconds: number): void }>();
    const onResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      const { statusCode: status, elapsedTime } = reply;
      let timer = timers.get(status);
      if (timer === undefined) {
        timer = metrics.requestSeconds.labels({ method: request.method, route: url, status });
        timers.set(status, timer);
      }
      timer.observe(elapsedTime / 1000);
      if (log.isLevelEnabled('info')) log.info(requestLine(request, reply), 'request');
      done();
    };
    route.onResponse = [...[route.onResponse ?? []].flat(), onResponse];
  });
}

function requestLine(
  { id: requestId, method, url, caller }: FastifyRequest,
  { statusCode: status, elapsedTime }: FastifyReply,
) {
  const key = caller?.via === 'key' ? { partner: caller.key.partnerId, key: caller.key.id } : {};
  return { requestId, method, path: url.split('?', 1)[0], status, ms: Math.round(elapsedTime * 10) / 10, ...key };
}
