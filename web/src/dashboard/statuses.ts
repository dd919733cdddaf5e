import type { LateMoneyStatus, PaymentStatus, PayoutStatus, RefundStatus, Role } from './api-types.ts';

/** The values of the API that the dashboard lists, in the order of its menus. */

export const STATUSES = [
  'requires_action',
  'processing',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
] as const satisfies readonly PaymentStatus[];
export const ROLES = ['owner', 'developer', 'support', 'bookkeeper', 'cashier'] as const satisfies readonly Role[];
export const LATE_STATUSES = [
  'unclaimed',
  'requested',
  'returning',
  'returned',
] as const satisfies readonly LateMoneyStatus[];
export const REFUND_STATUSES = [
  'requested',
  'awaiting_funds',
  'sending',
  'refunded',
  'failed',
] as const satisfies readonly RefundStatus[];
export const PAYOUT_STATUSES = [
  'held',
  'sending',
  'paid',
  'refunding',
  'refunded',
] as const satisfies readonly PayoutStatus[];
