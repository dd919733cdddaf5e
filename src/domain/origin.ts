/**
 * The origin of a change, for the audit log. The gateway saw `address` itself. `host`, `account` and `session` are claims of
 * the machine on which an operator command runs.
 */
export interface Origin {
  /** The client address of an API request. */
  readonly address?: string;
  readonly requestId?: string;
  /** The name of the machine. `account` is the account of the operating system on it. */
  readonly host?: string;
  readonly account?: string;
  /** The address from which the operator's remote session comes. */
  readonly session?: string;
  /** The partner for which the caller acts. `merchantId` is set for a person who belongs to a merchant. */
  readonly partnerId?: string;
  readonly merchantId?: string;
}
