/**
 * Every error code of the API, its HTTP statuses (the first is the default) and its cause. The error pages in `docs/` are generated
 * from this table, and the HTTP error handler takes the statuses from it.
 */
export const CATALOGUE = {
  header_not_ascii: { statuses: [400], when: 'A header of ours holds a byte outside ASCII.' },
  invalid_api_version: {
    statuses: [400],
    when: '`Pay-Version` (or `WCP-Version`) is not a calendar date, or the two headers differ.',
  },
  unknown_api_version: { statuses: [400], when: 'The version is well formed, but no such version was published.' },
  api_version_downgrade: { statuses: [400], when: 'The version is older than the one the partner is pinned to.' },
  missing_api_key: { statuses: [401], when: 'A partner route was called without `Api-Key`.' },
  missing_merchant_api_key: {
    statuses: [401],
    when: 'The deprecated list under `/v1/merchants/{merchantId}/payments` was called without `X-Api-Key` or `Api-Key`.',
  },
  invalid_api_key: { statuses: [401], when: 'The key is unknown, revoked or expired.' },
  unauthorized: {
    statuses: [401],
    when: 'The key is known, but its partner is disabled; a session has ended, nobody is signed in, or a passkey or a one-time link was not accepted.',
  },
  missing_merchant_id: { statuses: [401], when: 'A merchant-scoped route was called without `Merchant-Id`.' },
  missing_auth_headers: { statuses: [401], when: 'A gateway route was called with no credentials at all.' },
  missing_app_id: { statuses: [401], when: 'A gateway route was called with `Client-Id` alone.' },
  missing_client_id: { statuses: [401], when: 'A gateway route was called with `App-Id` alone.' },
  invalid_app_id: { statuses: [401], when: 'The `App-Id` is unknown or was removed.' },
  conflicting_auth_headers: {
    statuses: [400],
    when: 'A route was called with both `Api-Key` and `App-Id`, or with two different keys (`Api-Key` repeated, or beside `X-Api-Key`): send one of them.',
  },
  forbidden: {
    statuses: [403],
    when: 'The key is valid but lacks the scope, is not for this merchant, or is used from an address that is not allowed; a role lacks the scope, a refund is above the limit of a person, a change needs the passkey again (`details.needs` is `passkey`), or a request with a cookie does not come from a page of this origin; or a payment was created for an inactive, suspended or frozen merchant, or a destination or refund of a suspended or frozen one was asked for.',
  },
  not_sandbox_api_key: {
    statuses: [403],
    when: 'A live key names an asset of a test network, or uses the clock of a sandbox.',
  },
  rate_limited: {
    statuses: [429],
    when: 'Too many requests, the paying account has too many payments under way, or too many transactions were prepared for a payment: wait for the seconds in `Retry-After`.',
  },
  invalid_params: {
    statuses: [400, 404, 405, 413, 415, 417],
    when: 'The request cannot be read: broken JSON, a body of more than 32 levels or 2,000 values, an unusable cursor or no `Host` (400), an unknown route, settlement, event, webhook endpoint, delivery, person, session or passkey (404), a method the route does not take (405), a body that is too large (413) or not JSON (415), an `Expect` other than `100-continue` (417).',
  },
  params_validation: {
    statuses: [400, 422],
    when: 'The request can be read, but fields break their rules: `issues` names every one of them. 422 on gateway routes for malformed accounts and for results or signatures that do not fit.',
  },
  merchant_not_found: { statuses: [404], when: "The merchant is unknown, deleted, or another partner's or mode's." },
  payment_not_found: { statuses: [404], when: 'The payment is unknown, or not this merchant’s.' },
  idempotency_conflict: {
    statuses: [409],
    when: 'The `Idempotency-Key` was used with a different request; or, with `Retry-After: 1`, the first request with it is still running.',
  },
  invalid_state: {
    statuses: [400, 409],
    isReplayed: true,
    when: 'The state of the resource does not allow it, or the merchant of a payment is suspended or frozen; 409 for a second settlement destination of one asset, a 21st webhook endpoint, deliveries of a disabled one, a second return of late money, a 101st API key in force, a second person with an e-mail address, the last owner or passkey, and a person, a merchant, a destination or a list of accepted assets that was changed meanwhile.',
  },
  payment_expired: { statuses: [410], when: 'The payment has expired.' },
  quote_expired: { statuses: [400], when: 'The option is no longer in force: ask for options again.' },
  sanctioned_user: {
    statuses: [400],
    when: 'The paying account is on the screening list, or the destination of late money is.',
  },
  executor_not_found: { statuses: [409], when: "The option's network has no relayer any more, or is frozen." },
  payment_not_succeeded: {
    statuses: [400],
    isReplayed: true,
    when: 'A refund was asked for a payment that has not succeeded.',
  },
  already_refunded: { statuses: [409], isReplayed: true, when: 'The payment was refunded before.' },
  partner_not_found: { statuses: [404], when: 'Operator commands: there is no such partner.' },
  api_key_not_found: { statuses: [404], when: 'There is no such API key, or it is not one of the caller’s.' },
  merchant_exists: {
    statuses: [409],
    reserved: true,
    when: 'No route returns it: shops may share name and e-mail.',
  },
  customer_not_found: { statuses: [404], reserved: true, when: 'No route returns it.' },
  wallet_not_found: { statuses: [404], reserved: true, when: 'No route returns it.' },
  internal_error: {
    statuses: [500, 503],
    when: 'An error of the gateway: quote the `Request-Id`. 503 with `Retry-After` while the database or a chain is unreachable, or the node is overloaded.',
  },
} as const satisfies Record<string, CatalogueEntry>;

interface CatalogueEntry {
  readonly statuses: readonly [number, ...number[]];
  readonly when: string;
  /** True if the specification lists this code, but no route answers with it. */
  readonly reserved?: true;
  /**
   * True for a refusal caused by the state of a resource. The refusal is stored under the Idempotency-Key, so a retry gets the same
   * answer.
   */
  readonly isReplayed?: true;
}

export type ErrorCode = keyof typeof CATALOGUE;

export interface Issue {
  readonly field: string;
  readonly message: string;
}

interface ErrorOptions {
  readonly status?: number;
  readonly issues?: readonly Issue[];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterS?: number;
}

/** A refusal from the catalogue. The HTTP error handler and the operator commands render it. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly issues: readonly Issue[] | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = options.status ?? CATALOGUE[code].statuses[0];
    this.issues = options.issues;
    this.details = options.details;
    this.retryAfterS = options.retryAfterS;
  }

  get body() {
    const { code, message, issues, details } = this;
    return { code, message, ...(issues && { issues }), ...(details && { details }) };
  }

  get isReplayed(): boolean {
    return 'isReplayed' in CATALOGUE[this.code];
  }
}

/** The error for invalid fields. Its message names every such field, for clients that do not show `issues`. */
export function validationError(issues: readonly Issue[], status?: number): ApiError {
  const text = issues.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new ApiError('params_validation', `Validation error: ${text}`, { issues, status });
}
