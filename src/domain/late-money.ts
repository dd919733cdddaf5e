import type { PaymentStatus } from './payment.ts';

/** Why money did not count for its payment. */
export const LATE_REASONS = ['late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network'] as const;
export type LateReason = (typeof LATE_REASONS)[number];

/** Money at a deposit address, or by an item of a wallet, that its payment did not need. */
export interface ExtraMoney {
  readonly status: PaymentStatus;
  /** True if the payment was paid by the same address or item. */
  readonly isOfPaid: boolean;
  /** True if it is another asset than was asked for, or came on another network. */
  readonly isOtherToken?: boolean;
  readonly isOtherNetwork?: boolean;
  /** True if it came before the payment ended, and was too little. */
  readonly isInTime?: boolean;
}

/** The one place that says why money is late money. */
export function lateReasonOf({ status, isOfPaid, isOtherToken, isOtherNetwork, isInTime }: ExtraMoney): LateReason {
  if (isOtherNetwork) return 'wrong_network';
  if (isOtherToken) return 'wrong_token';
  if (isOfPaid) return 'overpaid';
  if (status === 'succeeded') return 'paid_twice';
  return isInTime ? 'underpaid' : 'late';
}

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
