import type { Reader, Tx } from '../plumbing/database.ts';

/** The transfer by which the net amount of a payment reached its merchant. */
export interface PaymentSettlement {
  readonly paymentId: string;
  /** The asset as a CAIP-19 id. */
  readonly asset: string;
  /** The amount after fees: a decimal integer in the smallest unit. */
  readonly amount: string;
  /** The merchant's address that received the transfer, in the canonical spelling of its network. */
  readonly recipient: string;
  readonly transactionHash: string;
  readonly at: Date;
}

/** Stores settlements, and returns the payments that had none before. A payment is settled once, so a stored settlement stays. */
export async function insertPaymentSettlements(tx: Tx, settlements: readonly PaymentSettlement[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    insert into payment_settlements (payment_id, asset, amount, recipient, transaction_hash, at)
    select s."paymentId", s.asset, s.amount, s.recipient, s."transactionHash", s.at
    from jsonb_to_recordset(${tx.json(settlements as never)}) as s(
      "paymentId" text, asset text, amount numeric, recipient text, "transactionHash" text, at timestamptz)
    on conflict (payment_id) do nothing
    returning payment_id as id`;
  return rows.map(({ id }) => id);
}

/** The fields of a settlement that the payment's events record. */
export function recordSettlement({
  asset,
  amount,
  recipient,
  transactionHash,
  at,
}: Omit<PaymentSettlement, 'paymentId'>) {
  return { asset, amount, recipient, transactionHash, at };
}

/**
 * Changes the transaction of a settlement, because another transaction than the stored one has made the transfer. Does nothing for a
 * payment without a settlement.
 */
export async function moveSettlement(
  tx: Tx,
  { paymentId, transactionHash }: Pick<PaymentSettlement, 'paymentId' | 'transactionHash'>,
): Promise<void> {
  await tx`update payment_settlements set transaction_hash = ${transactionHash} where payment_id = ${paymentId}`;
}

/** Deletes the settlement of a payment, because a deep reorg has removed its transaction for good. */
export async function deletePaymentSettlement(tx: Tx, paymentId: string): Promise<void> {
  await tx`delete from payment_settlements where payment_id = ${paymentId}`;
}

export async function findPaymentSettlement(db: Reader, paymentId: string): Promise<PaymentSettlement | undefined> {
  const [row] = await findPaymentSettlements(db, [paymentId]);
  return row;
}

export function findPaymentSettlements(db: Reader, paymentIds: readonly string[]): Promise<PaymentSettlement[]> {
  return db<PaymentSettlement[]>`
    select payment_id as "paymentId", asset, amount, recipient, transaction_hash as "transactionHash", at
    from payment_settlements where payment_id = any(${paymentIds as string[]}::text[])`;
}
