/** Why money did not count for its payment. */
export const LATE_REASONS = ['late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network'] as const;
export type LateReason = (typeof LATE_REASONS)[number];

/** The states of late money: a partner asks for its return, which cools off, is sent and arrives. */
export const LATE_STATES = ['unclaimed', 'requested', 'returning', 'returned'] as const;
export type LateState = (typeof LATE_STATES)[number];

/** Money that a payment did not need, as the events of the payment record it. */
export interface LateMoney {
  /** Missing in events of an older version. */
  readonly id?: string;
  readonly reason: LateReason;
  /** CAIP-19. */
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly amount: string;
  /** Only of `payment.late_money_updated`, like the other two. */
  readonly status?: LateState;
  /** CAIP-10. Null if nobody has named one. */
  readonly destination?: string | null;
  /** Why the last return did not happen. */
  readonly problem?: string | null;
}
