import type { ErrorCode, Issue } from './api-types.ts';

/** Every error that this library throws by itself. */
export class TillError extends Error {
  override name = 'TillError';
}

/** `unreadable_answer`: the answer is not one of Till's, such as the error page of a proxy. */
export type AnswerCode = ErrorCode | 'unreadable_answer';

export interface Refusal {
  readonly code: AnswerCode;
  readonly message: string;
  readonly issues?: readonly Issue[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The gateway answered with an error. Decide by `code`, and quote `requestId` when you report it. */
export class ApiError extends TillError {
  override name = 'ApiError';
  readonly code: AnswerCode;
  readonly status: number;
  readonly requestId: string | undefined;
  /** Every broken field, on validation errors. */
  readonly issues: readonly Issue[];
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds after which the request may be sent again. */
  readonly retryAfterS: number | undefined;

  constructor(
    { code, message, issues = [], details }: Refusal,
    answer: {
      readonly status: number;
      readonly requestId?: string | undefined;
      readonly retryAfterS?: number | undefined;
    },
  ) {
    super(message);
    this.code = code;
    this.status = answer.status;
    this.requestId = answer.requestId;
    this.issues = issues;
    this.details = details;
    this.retryAfterS = answer.retryAfterS;
  }
}

/**
 * There was no answer, or none that can be read, so it is unknown whether the request was carried out. Send it again with the same
 * `idempotencyKey` to find out.
 */
export class ConnectionError extends TillError {
  override name = 'ConnectionError';
  /** The key of the request, if it was a POST. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, options: { readonly cause?: unknown; readonly idempotencyKey?: string | undefined }) {
    super(message, { cause: options.cause });
    this.idempotencyKey = options.idempotencyKey;
  }
}

/** The payment was not final in time. It may yet succeed: ask again. */
export class WaitTimeoutError extends TillError {
  override name = 'WaitTimeoutError';
  readonly paymentId: string;

  constructor(paymentId: string, timeoutMs: number) {
    super(`The payment ${paymentId} was not final within ${timeoutMs} ms.`);
    this.paymentId = paymentId;
  }
}

export type WebhookProblem = 'missing_header' | 'bad_timestamp' | 'too_old' | 'too_new' | 'no_match' | 'bad_body';

/** The request is not a webhook of the owner of the secret, or is too old. Answer it with 400 and do nothing else. */
export class WebhookError extends TillError {
  override name = 'WebhookError';
  readonly problem: WebhookProblem;

  constructor(problem: WebhookProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
