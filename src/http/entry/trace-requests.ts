import type { FastifyRequest } from 'fastify';
import type { OpenSpan, Tracing } from '../../runtime/tracing.ts';
import type { App } from '../deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request. Missing if no receiver of traces is configured, and after the answer. */
    span?: OpenSpan | undefined;
  }
}

/**
 * Begins a root span for each request, named by its route. A `traceparent` of the caller is not read: strangers must not choose
 * what is recorded. Without a receiver of traces, no hook is added.
 */
export function traceRequests(app: App, tracing: Tracing | undefined): void {
  if (tracing === undefined) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const span = begin(tracing, request);
    request.span = span;
    span.run(done);
  });
  // Enters the request's span again. The body was read in events of the connection, and these run outside the span.
  app.addHook('preValidation', (request, _reply, done) =>
    request.span === undefined ? done() : request.span.run(done),
  );
  app.addHook('onResponse', (request, { statusCode }, done) => {
    end(request, statusCode);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    request.span?.fail('aborted');
    end(request);
    done();
  });
}

function begin(tracing: Tracing, { method, id, params, routeOptions }: FastifyRequest): OpenSpan {
  const { url: route = 'unknown' } = routeOptions;
  const payment = paymentIn(params);
  return tracing.begin(`${method} ${route}`, {
    kind: 'server',
    place: 'root',
    attributes: { 'http.request.method': method, 'http.route': route, 'till.request.id': id },
    payments: payment === undefined ? [] : [payment],
  });
}

function end(request: FastifyRequest, status?: number): void {
  const { span, refusal } = request;
  if (span === undefined) return;
  request.span = undefined;
  if (status !== undefined) span.set('http.response.status_code', status);
  if (refusal !== undefined) span.set('till.error.code', refusal.code);
  if (status !== undefined && status >= 500) span.fail(refusal?.code ?? String(status));
  span.end();
}

function paymentIn(params: unknown): string | undefined {
  const values = typeof params === 'object' && params !== null ? Object.values(params) : [];
  return values.find((value): value is string => typeof value === 'string' && PAYMENT_ID.test(value));
}

/** The form of a payment id. Only ids become attributes of a span, because a stranger can write anything into a path. */
const PAYMENT_ID = /^pay_[0-9A-Z]{26}$/;
