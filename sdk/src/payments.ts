import type {
  CancelledPayment,
  CreatedPayment,
  ListedPayment,
  NewPayment,
  Payment,
  PaymentPage,
  PaymentQuery,
  PaymentState,
} from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { WaitTimeoutError } from './errors.ts';
import { type List, listOf } from './list.ts';
import { type Interruption, sleep } from './retry.ts';

export interface StatusOptions extends CallOptions {
  /** The longest time that the gateway waits for a change of the status before it answers. The maximum is 25,000 ms. */
  readonly maxPollMs?: number;
}

export interface WaitOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** Throw a `WaitTimeoutError` after this time. Default: 15 minutes. */
  readonly timeoutMs?: number;
  /** Called with each new status, including the first and the last. */
  readonly onStatus?: (state: PaymentState) => void;
  /** Called when the gateway cannot be reached. Waiting continues. */
  readonly onInterruption?: Interruption;
}

/** The type of the page for a query. The page has all statistics, unless the query leaves some of them out. */
export type PaymentPageFor<Query> = 'stats' extends keyof Query
  ? Query extends { readonly stats: 'all' }
    ? CompletePage
    : PaymentPage
  : CompletePage;

type CompletePage = PaymentPage & { stats: Required<PaymentPage['stats']> };

const HOLD_MS = 20_000;
const WAIT_MS = 15 * 60_000;
/** The minimum time between two requests for the status, if the gateway answers them at once instead of holding them as long polls. */
const PAUSE_MS = 1_000;

export function paymentsOf(connection: Connection) {
  return {
    /**
     * Creates a payment. Send the payer to `gatewayUrl`.
     *
     * @example
     * const payment = await till.payments.create(
     *   { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER-42' },
     *   { idempotencyKey: 'order-42' },
     * );
     * console.log(`Pay at ${payment.gatewayUrl}`);
     */
    create(payment: NewPayment, options?: CallOptions): Promise<CreatedPayment> {
      return connection.ask({ method: 'POST', path: '/v1/payments', body: payment, isOfMerchant: true }, options);
    },

    /**
     * A payment with its price, order and status.
     *
     * @example
     * const payment = await till.payments.get(paymentId);
     * console.log(payment.referenceId, payment.status);
     */
    get(id: string, options?: CallOptions): Promise<Payment> {
      return connection.ask({ method: 'GET', path: pathOf(id), isOfMerchant: true }, options);
    },

    /**
     * The status of a payment. With `maxPollMs`, the gateway answers when the status changes or when that time is over.
     *
     * @example
     * const { status, isFinal } = await till.payments.status(paymentId);
     * console.log(status, isFinal);
     */
    async status(id: string, options: StatusOptions = {}): Promise<PaymentState> {
      const { maxPollMs = 0 } = options;
      const query = { maxPollMs: maxPollMs || undefined };
      const call = {
        method: 'GET',
        path: `${pathOf(id)}/status`,
        query,
        holdMs: maxPollMs,
        isOfMerchant: true,
      } as const;
      return connection.ask(call, options);
    },

    /**
     * The payments of all merchants that the API key may act for, or of some of them, newest first.
     *
     * @example
     * for await (const payment of till.payments.list({ status: 'succeeded' })) console.log(payment.paymentId);
     *
     * const { data, stats } = await till.payments.list({ merchantId, limit: 10 }).page();
     * console.log(data.length, stats.totalTransactions);
     */
    list<Query extends PaymentQuery = Record<never, never>>(
      query?: Query,
      options?: CallOptions,
    ): List<PaymentPageFor<Query>, ListedPayment> {
      return listOf(connection, { path: '/v1/payments', query: { ...query } }, ({ data }) => data, options);
    },

    /**
     * Cancels a payment that nobody has paid yet. After a `ConnectionError`, ask for the status: if the first call was
     * carried out, a second one is refused.
     *
     * @example
     * const { status } = await till.payments.cancel(paymentId);
     * console.log(status); // cancelled
     */
    cancel(id: string, options?: CallOptions): Promise<CancelledPayment> {
      const call = { method: 'POST', path: `${pathOf(id)}/cancel`, isOfMerchant: true, isRepeatable: false } as const;
      return connection.ask(call, options);
    },

    /**
     * Waits until the payment is final and returns its status. The wait continues while the gateway cannot be reached. Ship only
     * if the status is `succeeded`.
     *
     * @example
     * const { status } = await till.payments.waitUntilFinal(paidId, { timeoutMs: 60_000 });
     * if (status === 'succeeded') console.log('Ship it.');
     */
    async waitUntilFinal(id: string, options: WaitOptions = {}): Promise<PaymentState> {
      const { timeoutMs = WAIT_MS, signal, onStatus, onInterruption = () => {} } = options;
      const path = `${pathOf(id)}/status`;
      const untilMs = Date.now() + timeoutMs;
      const end = new AbortController();
      const timer = setTimeout(() => end.abort(new WaitTimeoutError(id, timeoutMs)), timeoutMs);
      const abort = () => end.abort(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      const own = { ...options, signal: end.signal };
      let state: PaymentState | undefined;
      let etag: string | undefined;
      try {
        for (;;) {
          const startedMs = Date.now();
          // The first request is not a long poll, so that `onStatus` gets the present status at once.
          const holdMs = state === undefined ? 0 : Math.max(0, Math.min(HOLD_MS, untilMs - startedMs));
          const query = { maxPollMs: holdMs || undefined };
          const call = { method: 'GET', path, query, etag, holdMs, isOfMerchant: true, onInterruption } as const;
          const answer = await connection.send<PaymentState | undefined>(call, own);
          if (answer.body !== undefined) {
            if (answer.body.status !== state?.status) onStatus?.(answer.body);
            state = answer.body;
            etag = answer.headers.get('etag') ?? undefined;
          }
          if (state?.isFinal) return state;
          const pauseMs = holdMs === 0 ? 0 : startedMs + Math.min(PAUSE_MS, holdMs) - Date.now();
          if (pauseMs > 0) await sleep(pauseMs, end.signal);
        }
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
    },
  };
}

function pathOf(id: string): string {
  return `/v1/payments/${segment(id)}`;
}
