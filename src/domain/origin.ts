/**
 * Where a change came from, for the audit log. The gateway saw `address` itself. `host`, `account` and `session` are the
 * word of the machine that an operator command runs on.
 */
export interface Origin {
  /** The address of an API request. */
  readonly address?: string;
  readonly requestId?: string;
  /** The name of the machine, and the account on it. */
  readonly host?: string;
  readonly account?: string;
  /** The address that the operator's remote session comes from. */
  readonly session?: string;
  /** The partner that the caller acts for, and the merchant of a person who belongs to one. */
  readonly partnerId?: string;
  readonly merchantId?: string;
}
