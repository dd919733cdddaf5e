/** Why money did not count for its payment. */
export const LATE_REASONS = ['late', 'overpaid', 'wrong_token', 'wrong_network'] as const;

/** Money that a payment did not need, as its event `payment.late_money` records it. */
export interface LateMoney {
  readonly reason: (typeof LATE_REASONS)[number];
  /** CAIP-19. */
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly amount: string;
}
