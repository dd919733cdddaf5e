import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isId } from '../domain/ids.ts';
import { isFinal } from '../domain/payment.ts';
import type { PaymentGlance } from '../store/payments.ts';
import { type AnswerHeaders, admit, type Gates, isKnownVisit, merchantOf, type Visit } from './access.ts';
import { logRequest } from './observe.ts';
import type { RequestIds } from './request-ids.ts';
import { READ } from './routes/payments.ts';
import { etagOf } from './status.ts';
import type { Origin } from './views/icons.ts';
import { viewStatus } from './views/payment.ts';

/**
 * How a payment stands is asked for more than everything else together. A request that wants only that, by a key and for
 * a merchant this node knows, is answered here, before the framework makes its objects for it. That saves a tenth of its
 * processor time. Whatever is not that plain goes on to the route, which gives the same answers and all the others.
 */
export interface StatusLane {
  readonly gates: Gates;
  readonly requestIds: RequestIds;
  /** The headers that every answer carries. */
  readonly headers: Readonly<Record<string, string>>;
}

const ROUTE = '/v1/payments/:id/status';
const PREFIX = '/v1/payments/';
const SUFFIX = '/status';
const ID_LENGTH = 30;
const URL_LENGTH = PREFIX.length + ID_LENGTH + SUFFIX.length;

export function statusLane(lane: StatusLane, route: RequestListener): RequestListener {
  const { deps } = lane.gates;
  const gate = { ...lane.gates, access: READ };
  const timer = deps.metrics.requestTimes.of({ method: 'GET', route: ROUTE, status: 200 });
  const fixed = Object.entries(lane.headers).flat();

  return (request, response) => {
    const id = plainlyAskedFor(request);
    const visit = id === undefined ? undefined : visitOf(request);
    if (id === undefined || visit === undefined || deps.longPolls.isReleased || !isKnownVisit(gate, visit)) {
      return route(request, response);
    }
    const startedAtMs = deps.world.clock.nowMs();
    const head = new Head(fixed);
    try {
      if (admit({ gate, request: visit, reply: head }) !== undefined) return route(request, response);
    } catch {
      // The route refuses it again, and in full.
      return route(request, response);
    }
    deps.glanceAtPayment(id).then(
      (payment) => {
        const nowMs = deps.world.clock.nowMs();
        if (payment?.merchantId !== merchantOf(visit).id) return route(request, response);
        const requestId = lane.requestIds(request);
        head.header('Request-Id', requestId);
        send(response, head, { body: bodyOf(deps.config, payment, nowMs), etag: etagOf(payment, nowMs) });
        timer.record(nowMs - startedAtMs);
        logRequest(
          deps.log,
          { id: requestId, method: 'GET', url: request.url ?? '', caller: visit.caller },
          200,
          nowMs - startedAtMs,
        );
      },
      () => route(request, response),
    );
  };
}

/** The id in the path, if the request asks for the status and for nothing else. */
function plainlyAskedFor({ method, url = '', headers }: IncomingMessage): string | undefined {
  if (url.length !== URL_LENGTH || method !== 'GET' || !url.startsWith(PREFIX) || !url.endsWith(SUFFIX))
    return undefined;
  if (headers['if-none-match'] !== undefined || headers['content-length'] !== undefined) return undefined;
  if (headers['transfer-encoding'] !== undefined) return undefined;
  const id = url.slice(PREFIX.length, PREFIX.length + ID_LENGTH);
  return isId('pay_', id) ? id : undefined;
}

function visitOf({ headers }: IncomingMessage): Visit {
  // Only callers this node does not know are counted by their address, and they go to the route.
  return { headers, ip: '', params: undefined, caller: undefined, apiVersion: undefined, merchant: undefined };
}

/** Names and values in turn: the form in which Node sends them as they are. */
class Head implements AnswerHeaders {
  readonly list: string[];
  constructor(fixed: readonly string[]) {
    this.list = fixed.slice();
  }
  header(name: string, value: string): void {
    this.list.push(name, value);
  }
}

function send(response: ServerResponse, head: Head, { body, etag }: { body: string; etag: string }): void {
  head.header('ETag', etag);
  head.header('Content-Type', 'application/json; charset=utf-8');
  head.header('Content-Length', String(Buffer.byteLength(body)));
  response.writeHead(200, head.list);
  // Everything in it is ASCII, which is written without being encoded.
  response.end(body, 'latin1');
}

/** Before the end there is nothing in the answer but the status: one text for each. */
const OPEN_BODIES = new Map<string, string>();

function bodyOf(origin: Origin, payment: PaymentGlance, nowMs: number): string {
  const view = viewStatus(origin, payment, nowMs);
  if (isFinal(view.status)) return JSON.stringify(view);
  const known = OPEN_BODIES.get(view.status);
  if (known !== undefined) return known;
  const body = JSON.stringify(view);
  OPEN_BODIES.set(view.status, body);
  return body;
}
