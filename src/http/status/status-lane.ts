import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isId } from '../../domain/ids.ts';
import { isFinal, visibleStatus } from '../../domain/payment.ts';
import { type PaymentGlance, stateOf } from '../../store/payments/payments.ts';
import {
  type AnswerHeaders,
  admitWithPass,
  type Gates,
  holds,
  isAscii,
  OUR_HEADERS,
  type Pass,
  passFor,
} from '../entry/access.ts';
import { logRequest } from '../entry/observe.ts';
import type { RequestIds } from '../entry/request-ids.ts';
import { READ } from '../routes/payments.ts';
import type { Origin } from '../views/icons.ts';
import { viewStatus } from '../views/payment.ts';
import { etagOf } from './status.ts';

/**
 * How a payment stands is asked for more than everything else together. A request that wants only that, by a key and for
 * a merchant this node knows, is answered here, before the framework makes its objects for it. What it is let in by is
 * found out once and then holds while the rows of key and merchant stay the same. Whatever is not that plain goes on to the
 * route, which gives the same answers and all the others.
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
const MAX_PASSES = 10_000;

export function statusLane(lane: StatusLane, route: RequestListener): RequestListener {
  const { deps } = lane.gates;
  const { clock } = deps.world;
  const gate = { ...lane.gates, access: READ };
  const timer = deps.metrics.requestTimes.of({ method: 'GET', route: ROUTE, status: 200 });
  const fixed = Object.entries(lane.headers).flat();
  const passes = new Map<string, LanePass>();

  /** The pass from an earlier request, or a new one. */
  function findPass(request: IncomingMessage, { key, merchantId, version }: PlainRequest, nowMs: number) {
    // No header holds a line break.
    const name = `${key}\n${merchantId}\n${version}`;
    const known = passes.get(name);
    if (known !== undefined && holds(gate, known, nowMs)) return known;
    // Only callers this node does not know are counted by their address, and they go to the route.
    const visit = { headers: request.headers, ip: '', params: undefined };
    const pass = passFor(gate, { ...visit, caller: undefined, apiVersion: undefined, merchant: undefined });
    if (pass === undefined) return undefined;
    if (passes.size >= MAX_PASSES) passes.clear();
    const headers = [...fixed, 'Pay-Version', pass.version, 'WCP-Version', pass.version];
    const kept = { ...pass, headers: [...headers, 'Content-Type', 'application/json; charset=utf-8'] };
    passes.set(name, kept);
    return kept;
  }

  return (request, response) => {
    const asked = deps.longPolls.isReleased ? undefined : readPlain(request);
    if (asked === undefined) return route(request, response);
    const startedAtMs = clock.nowMs();
    const limits = new HeaderList();
    let pass: LanePass | undefined;
    try {
      pass = findPass(request, asked, startedAtMs);
      if (pass === undefined) return route(request, response);
      admitWithPass(gate, pass, limits, startedAtMs);
    } catch {
      // The route refuses it again, and in full.
      return route(request, response);
    }
    const { caller, merchant, headers } = pass;
    deps.glanceAtPayment(asked.id).then(
      (payment) => {
        if (payment?.merchantId !== merchant.id) return route(request, response);
        const nowMs = clock.nowMs();
        const requestId = lane.requestIds(asked);
        send(response, answerTo(deps.config, payment, nowMs), [...headers, ...limits.list, 'Request-Id', requestId]);
        timer.record(nowMs - startedAtMs);
        logRequest(
          deps.log,
          { id: requestId, method: 'GET', url: request.url ?? '', caller },
          200,
          nowMs - startedAtMs,
        );
      },
      () => route(request, response),
    );
  };
}

interface LanePass extends Pass {
  /** Names and values in turn: the form in which Node sends them as they are. */
  readonly headers: readonly string[];
}

class HeaderList implements AnswerHeaders {
  readonly list: string[] = [];
  header(name: string, value: string): void {
    this.list.push(name, value);
  }
}

interface PlainRequest {
  readonly id: string;
  readonly key: string;
  readonly merchantId: string;
  /** Empty when it names none. */
  readonly version: string;
  /** What the request is called by its sender. */
  readonly headers: { readonly 'request-id'?: string };
}

const UNNAMED = {};

/** What the request asks for, if that is the status and nothing else. */
function readPlain({ method, url = '', rawHeaders }: IncomingMessage): PlainRequest | undefined {
  if (url.length !== URL_LENGTH || method !== 'GET' || !url.startsWith(PREFIX) || !url.endsWith(SUFFIX))
    return undefined;
  const id = url.slice(PREFIX.length, PREFIX.length + ID_LENGTH);
  let [key, merchantId, version] = ['', '', ''];
  let headers: PlainRequest['headers'] = UNNAMED;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] ?? '';
    switch (roleOf(rawHeaders[at] ?? '')) {
      case 'none':
        continue;
      case 'key':
        if (key !== '') return undefined;
        key = value;
        continue;
      case 'merchant':
        if (merchantId !== '') return undefined;
        merchantId = value;
        continue;
      case 'version':
        if (version !== '') return undefined;
        version = value;
        continue;
      case 'name':
        headers = { 'request-id': value };
        continue;
      case 'text':
        if (!isAscii(value)) return undefined;
        continue;
      case 'other':
        return undefined;
    }
  }
  return key !== '' && merchantId !== '' && isId('pay_', id) ? { id, key, merchantId, version, headers } : undefined;
}

/** What a header means for a plain request; `other` makes it not plain. */
type Role = 'none' | 'key' | 'merchant' | 'version' | 'name' | 'text' | 'other';

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  // Whatever else of ours a request brings, the route looks at it.
  ...OUR_HEADERS.map((name) => [name, 'other'] as const),
  ['if-none-match', 'other'],
  ['content-length', 'other'],
  ['transfer-encoding', 'other'],
  ['api-key', 'key'],
  ['merchant-id', 'merchant'],
  ['pay-version', 'version'],
  ['wcp-version', 'version'],
  ['request-id', 'name'],
  ['sdk-name', 'text'],
  ['sdk-version', 'text'],
  ['sdk-platform', 'text'],
]);

/** By the spellings that were seen: clients have few, and always the same. */
const spellings = new Map<string, Role>();
const MAX_SPELLINGS = 500;

function roleOf(name: string): Role {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const role = ROLES.get(name.toLowerCase()) ?? 'none';
  if (spellings.size < MAX_SPELLINGS) spellings.set(name, role);
  return role;
}

interface Answer {
  readonly body: string;
  readonly etag: string;
  readonly length: string;
}

/** Before the end there is nothing in the answer but the status: one text for each. */
const OPEN_ANSWERS = new Map<string, Answer>();

function answerTo(origin: Origin, payment: PaymentGlance, nowMs: number): Answer {
  const status = visibleStatus(stateOf(payment), nowMs);
  const known = OPEN_ANSWERS.get(status);
  if (known !== undefined) return known;
  const body = JSON.stringify(viewStatus(origin, payment, nowMs));
  const answer = { body, etag: etagOf(payment, nowMs), length: String(Buffer.byteLength(body)) };
  if (!isFinal(status)) OPEN_ANSWERS.set(status, answer);
  return answer;
}

function send(response: ServerResponse, { body, etag, length }: Answer, headers: string[]): void {
  headers.push('ETag', etag, 'Content-Length', length);
  response.writeHead(200, headers);
  // Everything in it is ASCII, which is written without being encoded.
  response.end(body, 'latin1');
}
