import type { NewPayment, PaymentState } from './api-types.ts';
import type { CallOptions, Connection } from './connection.ts';
import { paymentsOf } from './payments.ts';

export interface PaywallOptions {
  /** The price of one request. */
  readonly amount: NewPayment['amount'];
  /**
   * `included`: the transfer is in a block that two endpoints show, which takes seconds. `final`: the payment has succeeded.
   * Default: `included`.
   */
  readonly until?: 'included' | 'final';
  /** The reference of the payments. Default: `x402`. */
  readonly referenceId?: string;
  /** The resource in words, for the programs that pay. */
  readonly description?: string;
  readonly merchantId?: string;
}

/** A request that was paid. */
export interface PaidRequest {
  readonly paymentId: string;
}

/** The parts of a request of Node's `http`, or of Express. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/** A paid request may be repeated for an hour: the answer may have been lost on the way. */
const REPEATABLE_S = 3_600;
const RETRY_AFTER_S = 2;
const HOLD_MS = 20_000;

type Verdict =
  | { readonly is: 'paid'; readonly paid: PaidRequest; readonly response: string | null }
  | { readonly is: 'unpaid'; readonly status: number; readonly headers: Record<string, string>; readonly body: string };

/** A request, whichever server it came to. */
interface Visit {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly url: string;
  readonly signature: string | null;
}

export function paywallOf(connection: Connection) {
  const payments = paymentsOf(connection);

  /**
   * Puts routes of your own behind a payment by x402, version 2. A request without payment gets 402 with the ways to pay; each
   * such answer creates a payment. A paid request may be repeated for an hour by its payer. While a payment is under way the
   * answer is 503 with `Retry-After`, and never another 402. `protect` wraps a handler of `Request` and `Response`;
   * `middleware` is for Express and for `http` of Node.
   *
   * @example
   * const paywall = till.paywall({ amount: { unit: 'iso4217/USD', value: '100' }, until: 'included' });
   * const serve = paywall.protect(async (request, { paymentId }) => new Response(`Sunny, says ${paymentId}`));
   *
   * const answer = await serve(new Request('https://weather.example/today'));
   * console.log(answer.status); // 402: nobody has paid yet
   */
  return function paywall(options: PaywallOptions) {
    const { amount, until = 'included', referenceId = 'x402', description, merchantId } = options;
    const own: CallOptions = merchantId === undefined ? {} : { merchantId };
    const macOf = ({ method, target }: Visit, paymentId: string, untilS: string) =>
      connection.macOf(['x402', paymentId, untilS, method, target, amount.unit, amount.value].join('\n'));

    async function judge(visit: Visit): Promise<Verdict> {
      const { signature } = visit;
      const told = signature === null ? undefined : readTicket(signature);
      const paymentId = told && (await isOwn(visit, told)) ? told.paymentId : undefined;
      if (signature === null || paymentId === undefined) return ask(visit, await newPayment());
      const answer = await connection.visit(`/x402/${paymentId}`, { 'payment-signature': signature });
      const text = await answer.text();
      if (answer.status === 402) return required(visit, paymentId, text);
      // The payment has ended without a transfer, and what was signed for it can never be carried out.
      if (answer.status === 410 || answer.status === 404) return ask(visit, await newPayment());
      if (answer.status >= 429) return comeBack();
      if (!answer.ok) return { is: 'unpaid', status: answer.status, headers: JSON_TYPE, body: text };
      const { status } = JSON.parse(text) as PaymentState;
      if (until === 'final' && status !== 'succeeded' && !(await hasSucceeded(paymentId))) return comeBack();
      return { is: 'paid', paid: { paymentId }, response: answer.headers.get('payment-response') };
    }

    async function newPayment(): Promise<string> {
      return (await payments.create({ amount, referenceId }, own)).paymentId;
    }

    async function ask(visit: Visit, paymentId: string): Promise<Verdict> {
      const answer = await connection.visit(`/x402/${paymentId}`, {});
      const text = await answer.text();
      return answer.status === 402 ? required(visit, paymentId, text) : comeBack();
    }

    /** The gateway's own answer, about this resource. The ticket is not on the chain, so only the payer can repeat the request. */
    async function required(visit: Visit, paymentId: string, text: string): Promise<Verdict> {
      const { accepts, ...rest } = JSON.parse(text) as { accepts: { extra: object }[] };
      const untilS = String(Math.floor(Date.now() / 1_000) + REPEATABLE_S);
      const ticket = `${untilS}.${await macOf(visit, paymentId, untilS)}`;
      const body = JSON.stringify({
        ...rest,
        resource: { url: visit.url, ...(description !== undefined && { description }) },
        accepts: accepts.map(({ extra, ...each }) => ({ ...each, extra: { ...extra, ticket } })),
      });
      return { is: 'unpaid', status: 402, headers: { ...JSON_TYPE, 'PAYMENT-REQUIRED': toBase64(body) }, body };
    }

    async function isOwn(visit: Visit, { paymentId, untilS, mac }: Ticket): Promise<boolean> {
      if (Number(untilS) * 1_000 < Date.now()) return false;
      return isSameText(mac, await macOf(visit, paymentId, untilS));
    }

    async function hasSucceeded(paymentId: string): Promise<boolean> {
      return (await payments.status(paymentId, { ...own, maxPollMs: HOLD_MS })).status === 'succeeded';
    }

    return {
      /** Wraps a handler, which is called for paid requests alone. */
      protect<Rest extends unknown[]>(
        handle: (request: Request, paid: PaidRequest, ...rest: Rest) => Response | Promise<Response>,
      ) {
        return async (request: Request, ...rest: Rest): Promise<Response> => {
          const { pathname, search } = new URL(request.url);
          const signature = request.headers.get('payment-signature');
          const visit = { method: request.method, target: pathname + search, url: request.url, signature };
          const verdict = await judge(visit);
          if (verdict.is === 'unpaid') return new Response(verdict.body, verdict);
          const answer = await handle(request, verdict.paid, ...rest);
          const headers = new Headers(answer.headers);
          if (verdict.response !== null) headers.set('PAYMENT-RESPONSE', verdict.response);
          if (!headers.has('cache-control')) headers.set('Cache-Control', 'private');
          return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers });
        };
      },

      /** Lets paid requests through to the next handler. */
      async middleware(request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void): Promise<void> {
        try {
          const target = request.originalUrl ?? request.url ?? '/';
          const [signature = null] = [request.headers['payment-signature'] ?? null].flat();
          const url = `https://${request.headers.host ?? 'localhost'}${target}`;
          const verdict = await judge({ method: request.method ?? 'GET', target, url, signature });
          if (verdict.is === 'paid') {
            if (verdict.response !== null) response.setHeader('PAYMENT-RESPONSE', verdict.response);
            response.setHeader('Cache-Control', 'private');
            return void next();
          }
          response.statusCode = verdict.status;
          for (const [name, value] of Object.entries(verdict.headers)) response.setHeader(name, value);
          response.end(verdict.body);
        } catch (error) {
          next(error);
        }
      },
    };
  };
}

const JSON_TYPE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

/** The outcome is not known yet, or the gateway is out of reach: nobody is asked to pay again. */
function comeBack(): Verdict {
  const headers = { ...JSON_TYPE, 'Retry-After': String(RETRY_AFTER_S) };
  return { is: 'unpaid', status: 503, headers, body: '{"message":"The payment is under way. Ask again."}' };
}

interface Ticket {
  readonly paymentId: string;
  readonly untilS: string;
  readonly mac: string;
}

/** The payment and the ticket that the client has sent back. */
function readTicket(signature: string): Ticket | undefined {
  try {
    const { paymentId, ticket } = JSON.parse(atob(signature)).accepted.extra;
    const [, untilS, mac] = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(ticket) ?? [];
    const isId = typeof paymentId === 'string' && /^pay_[0-9A-Z]{26}$/.test(paymentId);
    return isId && untilS !== undefined && mac !== undefined ? { paymentId, untilS, mac } : undefined;
  } catch {
    return undefined;
  }
}

/** In the same time for every text of that length. */
function isSameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
