import type { LateMoney } from '../../domain/late-money.ts';
import { recordFacts } from '../../domain/payment-facts.ts';
import { findRefundsOf, recordRefund } from '../../store/money/refunds.ts';
import {
  findPaymentSettlements,
  insertPaymentSettlements,
  type PaymentSettlement,
  recordSettlement,
} from '../../store/payments/payment-settlements.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { writeMoves } from './write-moves.ts';

/** An event of a payment that does not change its status. */
export interface PaymentNote {
  readonly type: 'payment.settled' | 'payment.reorged' | 'payment.late_money' | 'payment.late_money_updated';
  readonly actor: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  /** The transaction on chain that paid the payments, if a reorg replaced the previous one. */
  readonly transaction?: { readonly hash: string; readonly nonce: number | null };
  /** Set for the events of late money. */
  readonly lateMoney?: LateMoney;
}

/** Appends an event to payments. The payments stay unchanged, except for their transaction if the note names one. */
export async function notePayments(tx: Tx, ids: readonly string[], note: PaymentNote, at: Date): Promise<void> {
  if (ids.length === 0) return;
  const payments = await lockPayments(tx, ids);
  const [settlements, refunds] = await Promise.all([findPaymentSettlements(tx, ids), findRefundsOf(tx, ids)]);
  const { type, actor, evidence, transaction, lateMoney } = note;
  const carried = transaction && {
    transactionHash: transaction.hash,
    transactionNonce: transaction.nonce === null ? null : String(transaction.nonce),
  };
  const moves = payments.map((locked) => {
    const payment = { ...locked, ...carried };
    const settlement = settlements.find(({ paymentId }) => paymentId === payment.id);
    const own = refunds.filter(({ paymentId }) => paymentId === payment.id);
    const data = {
      ...recordFacts(payment),
      settlement: settlement && recordSettlement(settlement),
      ...(own.length > 0 && { refunds: own.map(recordRefund) }),
      ...(lateMoney !== undefined && { lateMoney }),
    };
    return { payment, facts: payment, events: [type], at, actor, data, evidence };
  });
  await writeMoves(tx, moves);
}

/**
 * Records that the money of succeeded payments, which was held until now, has reached their merchants. A second record for the
 * same payment has no effect.
 */
export async function settlePayments(
  tx: Tx,
  settlements: readonly PaymentSettlement[],
  { actor, evidence, at }: Omit<PaymentNote, 'type'> & { readonly at: Date },
): Promise<void> {
  const ids = settlements.map(({ paymentId }) => paymentId);
  await lockPayments(tx, ids);
  const settled = await insertPaymentSettlements(tx, settlements);
  await notePayments(tx, settled, { type: 'payment.settled', actor, evidence }, at);
}
