import { isFinal } from '../../domain/payment.ts';
import { findShownDetails, type PaymentDetails } from '../../store/payments/payment-details.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Reader } from '../../store/plumbing/database.ts';

const HOUR_MS = 3_600_000;
/** The hours after the end of a payment in which the payer may get the receipt by the id alone. Later the id may have spread anywhere. */
export const RECEIPT_BY_ID_HOURS = 24;

export interface ShownById {
  /** The details of the order. Empty if the id is visible on the chain. */
  readonly details: PaymentDetails;
  /** True if the id is visible on the chain, so that it gives no right to see the order. */
  readonly isPublicId: boolean;
  /** True if the id alone leads to the receipt. */
  readonly leadsToReceipt: boolean;
}

/** The parts of a payment that are visible to a reader with its id and no other right. */
export async function findShownById(db: Reader, { id, status, updatedAt }: Payment, nowMs: number): Promise<ShownById> {
  const { details, isPublicId } = await findShownDetails(db, id);
  const isRecent = !isFinal(status) || nowMs < updatedAt.getTime() + RECEIPT_BY_ID_HOURS * HOUR_MS;
  return { details, isPublicId, leadsToReceipt: isRecent && !isPublicId };
}
