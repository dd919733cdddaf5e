import type { Amount } from '../shared/money.ts';

/** The API's answers about refunds and payouts. */

export const REFUND_STATUSES = ['requested', 'awaiting_funds', 'sending', 'refunded', 'failed'] as const;

export interface ListedRefund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly merchantId: string;
  readonly status: (typeof REFUND_STATUSES)[number];
  readonly problem: string | null;
  readonly amount: Amount;
  readonly priceAmount: Amount;
  readonly destination: string;
  readonly reason: string | null;
  readonly txId: string | null;
  readonly requestedAt: string;
  readonly waitingFor?: {
    readonly what: string;
    readonly amount: Amount;
    readonly since: string;
    readonly until?: string;
  } | null;
  /** The page where the account that received the payment signs the refund. */
  readonly signUrl?: string;
}

export interface RefundPage {
  readonly refunds: readonly ListedRefund[];
  readonly nextCursor: string | null;
}

export const PAYOUT_STATUSES = ['held', 'sending', 'paid', 'refunding', 'refunded'] as const;

export interface ListedPayout {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly status: (typeof PAYOUT_STATUSES)[number];
  readonly amount: Amount;
  readonly destination: string | null;
  readonly txId: string | null;
  readonly heldAt: string;
  readonly waitingFor: {
    readonly what: 'destination' | 'cooling_off' | 'unfreeze' | 'retry' | 'gateway' | 'network';
    readonly until?: string;
  } | null;
}

export interface PayoutPage {
  readonly payouts: readonly ListedPayout[];
  readonly nextCursor: string | null;
}
