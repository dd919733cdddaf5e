import type { ErrorCode, Issue } from './api-types.ts';

/** The base class of all errors that this library throws itself. */
export class TillError extends Error {
  override name = 'TillError';
}

/** The code of an error answer. `unreadable_answer`: the answer is not from Till, for example the error page of a proxy. */
export type AnswerCode = ErrorCode | 'unreadable_answer';

export interface Refusal {
  readonly code: AnswerCode;
  readonly message: string;
  readonly issues?: readonly Issue[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The gateway answered with an error. Decide by `code`, and include `requestId` in reports. */
export class ApiError extends TillError {
  override name = 'ApiError';
  readonly code: AnswerCode;
  readonly status: number;
  readonly requestId: string | undefined;
  /** The invalid fields of the request, if the error is about validation. */
  readonly issues: readonly Issue[];
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds to wait before the request is sent again. */
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
 * The gateway gave no readable answer, so it is unknown whether the request was carried out. Repeat the request with the same
 * `idempotencyKey`.
 */
export class ConnectionError extends TillError {
  override name = 'ConnectionError';
  /** The Idempotency-Key of the request, if it was a POST. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, options: { readonly cause?: unknown; readonly idempotencyKey?: string | undefined }) {
    super(message, { cause: options.cause });
    this.idempotencyKey = options.idempotencyKey;
  }
}

/** The payment was not final before the timeout. It may still succeed: ask for its status later. */
export class WaitTimeoutError extends TillError {
  override name = 'WaitTimeoutError';
  readonly paymentId: string;

  constructor(paymentId: string, timeoutMs: number) {
    super(`The payment ${paymentId} was not final within ${timeoutMs} ms.`);
    this.paymentId = paymentId;
  }
}

export type WebhookProblem = 'missing_header' | 'bad_timestamp' | 'too_old' | 'too_new' | 'no_match' | 'bad_body';

/**
 * The webhook is not valid: for example, it is too old or was not signed with the secret. Answer the request with 400 and do nothing
 * else.
 */
export class WebhookError extends TillError {
  override name = 'WebhookError';
  readonly problem: WebhookProblem;

  constructor(problem: WebhookProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
