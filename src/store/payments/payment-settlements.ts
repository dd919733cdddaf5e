import type { Reader, Tx } from '../plumbing/database.ts';

/** The transfer by which a payment's net amount reached its merchant. */
export interface PaymentSettlement {
  readonly paymentId: string;
  /** CAIP-19. */
  readonly asset: string;
  /** After fees, in the smallest unit, as a decimal integer. */
  readonly amount: string;
  /** An address, in the canonical spelling of its network. */
  readonly recipient: string;
  readonly transactionHash: string;
  readonly at: Date;
}

/** Stores settlements, and returns the payments that had none. A payment is settled once, so an existing settlement stays. */
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

/** The settlement in the form that the payment's events record. */
export function recordSettlement({
  asset,
  amount,
  recipient,
  transactionHash,
  at,
}: Omit<PaymentSettlement, 'paymentId'>) {
  return { asset, amount, recipient, transactionHash, at };
}

/** Sets the transaction when another one than assumed made the transfer. A payment without a settlement stays without. */
export async function moveSettlement(
  tx: Tx,
  { paymentId, transactionHash }: Pick<PaymentSettlement, 'paymentId' | 'transactionHash'>,
): Promise<void> {
  await tx`update payment_settlements set transaction_hash = ${transactionHash} where payment_id = ${paymentId}`;
}

/** Deletes a settlement whose transaction a deep reorg has removed for good. */
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
