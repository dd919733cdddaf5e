import type { Reader } from '../plumbing/database.ts';

/** The order behind a payment, in the merchant's words. Empty parts are left out. */
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

/** Read apart from the payment: details can be large, and few readers of payments show them. */
export async function findPaymentDetails(db: Reader, paymentId: string): Promise<PaymentDetails> {
  const [row] = await db<{ details: PaymentDetails | null }[]>`select details from payments where id = ${paymentId}`;
  return row?.details ?? {};
}
