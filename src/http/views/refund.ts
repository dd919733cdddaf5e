import { Type } from 'typebox';
import { REFUND_STATES, type RefundState } from '../../domain/refund.ts';
import { enumOf, nullable, Timestamp } from '../schemas.ts';
import { AmountBody, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';

/** The part of a refund that a payment shows. */
export interface ShownRefund {
  readonly state: RefundState;
  readonly asset: string;
  readonly amount: string;
  readonly transactionHash: string | null;
  readonly requestedAt: Date;
  readonly updatedAt: Date;
}

export function viewRefund(origin: Origin, refund: ShownRefund) {
  const { state: status, asset, amount, transactionHash, requestedAt, updatedAt } = refund;
  return {
    status,
    amount: viewToken(origin, asset, amount),
    txId: transactionHash,
    requestedAt: requestedAt.toISOString(),
    lastUpdatedAt: updatedAt.toISOString(),
  };
}

export const RefundBody = Type.Object(
  {
    status: enumOf(REFUND_STATES, 'The state of the refund; `refunded` is the last one.'),
    amount: { ...AmountBody, description: 'The refunded amount: all that was paid.' },
    txId: nullable(Type.String({ description: 'The transaction, once it is final.' })),
    requestedAt: Timestamp,
    lastUpdatedAt: Timestamp,
  },
  { description: 'Only if a refund was requested.' },
);
