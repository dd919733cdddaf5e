import { payoutIdOf, refundIdsOf } from '../../domain/ids.ts';
import type { Reader } from '../plumbing/database.ts';

/** The merchant's description of the order for which a payment is made. Empty parts are left out. */
export interface PaymentDetails {
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly lineItems?: readonly StoredLineItem[];
}

export interface StoredLineItem {
  readonly name: string;
  readonly quantity?: number;
  readonly amount?: { readonly unit: string; readonly value: string; readonly decimals: number };
}

/** The details of a payment. They are read separately from it, because they can be large and few readers show them. */
export async function findPaymentDetails(db: Reader, paymentId: string): Promise<PaymentDetails> {
  return (await findDetailsOf(db, [paymentId])).get(paymentId) ?? {};
}

/** The details of payments that have any, by payment id. */
export async function findDetailsOf(db: Reader, ids: readonly string[]): Promise<Map<string, PaymentDetails>> {
  const rows = await db<{ id: string; details: PaymentDetails }[]>`
    select id, details from payments where id = any(${ids as string[]}::text[]) and details is not null`;
  return new Map(rows.map(({ id, details }) => [id, details]));
}

export interface ShownDetails {
  readonly details: PaymentDetails;
  /** True if a contract of the first releases may have shown the id on chain. Then strangers may know it. */
  readonly isPublicId: boolean;
}

/** The details of a payment for a reader whose only right is that it knows the payment's id. Empty if the chain may show the id. */
export async function findShownDetails(db: Reader, paymentId: string): Promise<ShownDetails> {
  const subjects = [paymentId, payoutIdOf(paymentId), ...refundIdsOf(paymentId)];
  const [row] = await db<{ details: PaymentDetails | null; isPublicId: boolean }[]>`
    select details,
      exists (select from items where subject = any(${subjects}::text[]) and seal is null) as "isPublicId"
    from payments where id = ${paymentId}`;
  const { details = null, isPublicId = true } = row ?? {};
  return { details: isPublicId ? {} : (details ?? {}), isPublicId };
}
