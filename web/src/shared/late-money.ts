import type { Amount } from './money.ts';

/** Money that arrived and did not count for its payment, as payers see it. */
export interface LateMoney {
  readonly reason: LateReason;
  readonly status: 'unclaimed' | 'requested' | 'returning' | 'returned';
  readonly amount: Amount;
}

export type LateReason = 'late' | 'overpaid' | 'underpaid' | 'paid_twice' | 'wrong_token' | 'wrong_network';
