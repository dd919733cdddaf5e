import type { PaymentStatus } from './payment.ts';

/** The reasons why money did not count for its payment. */
export const LATE_REASONS = ['late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network'] as const;
export type LateReason = (typeof LATE_REASONS)[number];

/** Money that its payment did not need, at a deposit address or from an item of a wallet. */
export interface ExtraMoney {
  readonly status: PaymentStatus;
  /** True if the payment was paid by the same address or item. */
  readonly isOfPaid: boolean;
  readonly isOtherToken?: boolean;
  readonly isOtherNetwork?: boolean;
  /** True if the money came before the payment ended, and was too little. */
  readonly isInTime?: boolean;
}

/** No other code decides why money is late. */
export function lateReasonOf({ status, isOfPaid, isOtherToken, isOtherNetwork, isInTime }: ExtraMoney): LateReason {
  if (isOtherNetwork) return 'wrong_network';
  if (isOtherToken) return 'wrong_token';
  if (isOfPaid) return 'overpaid';
  if (status === 'succeeded') return 'paid_twice';
  return isInTime ? 'underpaid' : 'late';
}

/** A partner asks for the return of late money. The return cools off, is sent, and arrives. */
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
  /** This field and the next two are set only in `payment.late_money_updated`. */
  readonly status?: LateState;
  /** CAIP-10. Null if nobody has named a destination. */
  readonly destination?: string | null;
  /** The reason why the last return failed. */
  readonly problem?: string | null;
}
