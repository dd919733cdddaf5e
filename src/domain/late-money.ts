/** The reasons why money did not count for its payment. */
export const LATE_REASONS = ['late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network'] as const;
export type LateReason = (typeof LATE_REASONS)[number];

/**
 * The states of late money: nobody has requested its return; the return is requested, and waits for the cooling-off period or for
 * funds; the return is being sent; the return is final on chain.
 */
export const LATE_STATES = ['unclaimed', 'requested', 'returning', 'returned'] as const;
export type LateState = (typeof LATE_STATES)[number];

/**
 * The name of the text that tells payers how their late money comes back. If the return of any of the money is not requested yet,
 * the text says so.
 */
export function returnTextOf(states: readonly LateState[]): 'lateText' | 'lateReturning' | 'lateReturned' {
  if (states.includes('unclaimed')) return 'lateText';
  return states.every((state) => state === 'returned') ? 'lateReturned' : 'lateReturning';
}

/** Money that a payment did not need, as the events of the payment record it. */
export interface LateMoney {
  /** The id of the late money. Missing in events of an older version. */
  readonly id?: string;
  readonly reason: LateReason;
  /** A CAIP-19 id. */
  readonly asset: string;
  /** The amount in the smallest unit, as a decimal integer. */
  readonly amount: string;
  /** The state of the return. This field and the next two are set only in `payment.late_money_updated`. */
  readonly status?: LateState;
  /** The account that gets the money back, in CAIP-10. Null if nobody has named one. */
  readonly destination?: string | null;
  /** The reason why the last return failed. */
  readonly problem?: string | null;
}
