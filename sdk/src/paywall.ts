import type { NewPayment, PaymentState } from './api-types.ts';
import type { CallOptions, Connection } from './connection.ts';
import { ApiError } from './errors.ts';
import { paymentsOf } from './payments.ts';
import { bodyOf, hashOf, type NodeRequest, newTicket, readTicket, type Ticket, type Visit } from './paywall-ticket.ts';
import { createUses } from './paywall-uses.ts';
import { sleep } from './retry.ts';

export interface PaywallOptions {
  /** The price of one request. */
  readonly amount: NewPayment['amount'];
  /**
   * When a payment counts as paid. `included` (default): its transfer is in a block that two RPC endpoints report. `final`: it has
   * succeeded.
   */
  readonly until?: 'included' | 'final';
  /** The `referenceId` of the payments that the paywall creates. Default: `x402`. */
  readonly referenceId?: string;
  /** A description of the resource, for the programs that pay. The 402 answer contains it. */
  readonly description?: string;
  readonly merchantId?: string;
  /**
   * How many times a paid request is served within an hour after its payment was created. A payer who lost the answer repeats the
   * request; with a limit of 1 that payer must pay again. Default: no limit.
   */
  readonly uses?: number;
  /**
   * Counts one more use of a payment and returns the number of its uses so far. Pass a shared counter if several processes serve the
   * route: by default each process counts separately, in memory.
   */
  readonly countUse?: (paymentId: string) => number | Promise<number>;
}

export interface PaidRequest {
  readonly paymentId: string;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/** The time after the creation of a payment in which the paid request may be repeated, in case its answer was lost. */
const REPEATABLE_MS = 3_600_000;
const RETRY_AFTER_S = 2;
const HOLD_MS = 20_000;

/** The longest time that the paywall waits for the outcome of a payment. After that it answers 503. */
const PATIENCE_MS = 60_000;

interface Presented {
  readonly status: number;
  readonly text: string;
  /** The header `PAYMENT-RESPONSE`. */
  readonly response: string | null;
}

type Verdict =
  | { readonly is: 'paid'; readonly paid: PaidRequest; readonly response: string | null }
  | { readonly is: 'unpaid'; readonly status: number; readonly headers: Record<string, string>; readonly body: string };

export function paywallOf(connection: Connection) {
  const payments = paymentsOf(connection);

  /**
   * Requires a payment by x402, version 2, for your own routes. A request without payment gets 402 with the ways to pay; each such
   * answer creates a payment. The payer may repeat a paid request, with the same method, URL and body, for an hour. While a payment
   * is being processed the answer is 503 with `Retry-After`, never another 402. `protect` wraps a handler of `Request` and
   * `Response`; `middleware` is for Express and for `http` of Node.
   *
   * @example
   * const paywall = till.paywall({ amount: { unit: 'iso4217/USD', value: '100' }, until: 'included' });
   * const serve = paywall.protect(async (request, { paymentId }) => new Response(`Sunny, says ${paymentId}`));
   *
   * const answer = await serve(new Request('https://weather.example/today'));
   * console.log(answer.status); // 402: nobody has paid yet
   */
  return function paywall(options: PaywallOptions) {
    const { amount, until = 'included', referenceId = 'x402', description, merchantId, uses } = options;
    const { countUse = createUses(REPEATABLE_MS) } = options;
    const own: CallOptions = merchantId === undefined ? {} : { merchantId };

    async function judge(visit: Visit): Promise<Verdict> {
      const { signature } = visit;
      const ticket = signature === null ? undefined : readTicket(signature);
      if (signature === null || ticket === undefined || !(await isGood(visit, ticket))) return ask(visit);
      const { paymentId } = ticket;
      const { status, text, response } = await present(paymentId, signature);
      if (status === 402) return required(visit, ticket, text);
      // The payment ended without a transfer, and its signature can no longer be executed. So the payer can safely make a new payment.
      if (status === 410) return ask(visit);
      if (status >= 429) return comeBack();
      if (status >= 400) return { is: 'unpaid', status, headers: JSON_TYPE, body: text };
      const isFinal = (JSON.parse(text) as PaymentState).status === 'succeeded';
      if (until === 'final' && !isFinal && !(await hasSucceeded(paymentId))) return comeBack();
      if (uses !== undefined && (await countUse(paymentId)) > uses) return ask(visit);
      return { is: 'paid', paid: { paymentId }, response };
    }

    /**
     * Sends the payer's signature to the gateway and waits for the outcome. An answer before the outcome could make a client pay
     * twice, because many clients sign again when they repeat a request.
     */
    async function present(paymentId: string, signature: string): Promise<Presented> {
      for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(RETRY_AFTER_S * 1_000)) {
        const answer = await connection.visit(`/x402/${paymentId}`, { 'payment-signature': signature }).then(
          async (found) => ({
            status: found.status,
            text: await found.text(),
            response: found.headers.get('payment-response'),
          }),
          () => ({ status: 503, text: '', response: null }),
        );
        if (answer.status < 429 || Date.now() > endMs) return answer;
      }
    }

    /**
     * Creates a payment for this request, and answers with the ways to pay it. The metadata of the payment has the hash of the
     * ticket.
     */
    async function ask(visit: Visit): Promise<Verdict> {
      const ticket = await newTicket();
      const metadata = { x402: await hashOf(visit, ticket) };
      const { paymentId } = await payments.create({ amount, referenceId, metadata }, own);
      const answer = await connection.visit(`/x402/${paymentId}`, {});
      const text = await answer.text();
      return answer.status === 402 ? required(visit, { paymentId, ticket }, text) : comeBack();
    }

    /**
     * The gateway's 402 answer, to which the resource and the ticket are added. The ticket never appears on the chain, so nobody but
     * the payer can use the payment.
     */
    function required(visit: Visit, { ticket }: Ticket, text: string): Verdict {
      const { accepts, ...rest } = JSON.parse(text) as { accepts: { extra: object }[] };
      const body = JSON.stringify({
        ...rest,
        resource: { url: visit.url, ...(description !== undefined && { description }) },
        accepts: accepts.map(({ extra, ...each }) => ({ ...each, extra: { ...extra, ticket } })),
      });
      return { is: 'unpaid', status: 402, headers: { ...JSON_TYPE, 'PAYMENT-REQUIRED': toBase64(body) }, body };
    }

    /** True if the merchant's payment was created for exactly this request, less than an hour ago. */
    async function isGood(visit: Visit, { paymentId, ticket }: Ticket): Promise<boolean> {
      const payment = await payments.get(paymentId, own).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      });
      const isRecent = payment !== undefined && Date.now() - Date.parse(payment.createdAt) < REPEATABLE_MS;
      return isRecent && payment.metadata?.x402 === (await hashOf(visit, ticket));
    }

    async function hasSucceeded(paymentId: string): Promise<boolean> {
      return (await payments.status(paymentId, { ...own, maxPollMs: HOLD_MS })).status === 'succeeded';
    }

    return {
      /** Wraps a handler that is called for paid requests only. */
      protect<Rest extends unknown[]>(
        handle: (request: Request, paid: PaidRequest, ...rest: Rest) => Response | Promise<Response>,
      ) {
        return async (request: Request, ...rest: Rest): Promise<Response> => {
          const signature = request.headers.get('payment-signature');
          // The body is read from a clone, because the handler reads the original.
          const body = new Uint8Array(await request.clone().arrayBuffer());
          const verdict = await judge({ method: request.method, url: request.url, body, signature });
          if (verdict.is === 'unpaid') return new Response(verdict.body, verdict);
          const answer = await handle(request, verdict.paid, ...rest);
          const headers = new Headers(answer.headers);
          if (verdict.response !== null) headers.set('PAYMENT-RESPONSE', verdict.response);
          if (!headers.has('cache-control')) headers.set('Cache-Control', 'private');
          return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers });
        };
      },

      /**
       * Passes paid requests on to the next handler. A request with a body needs a body parser before this middleware: the payment is
       * bound to `rawBody` or `body` of the request. An upload of files needs `rawBody`, because the parsers of uploads put files
       * into other fields than `body`.
       */
      async middleware(request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void): Promise<void> {
        try {
          const target = request.originalUrl ?? request.url ?? '/';
          const [signature = null] = [request.headers['payment-signature'] ?? null].flat();
          const url = `https://${request.headers.host ?? 'localhost'}${target}`;
          const verdict = await judge({ method: request.method ?? 'GET', url, body: bodyOf(request), signature });
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

/** The answer 503, if the outcome is unknown or the gateway cannot be reached. Unlike a 402, it does not make the client pay again. */
function comeBack(): Verdict {
  const headers = { ...JSON_TYPE, 'Retry-After': String(RETRY_AFTER_S) };
  return { is: 'unpaid', status: 503, headers, body: '{"message":"The payment is under way. Ask again."}' };
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
