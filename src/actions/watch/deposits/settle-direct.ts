import type { Lot, PaidEnding } from '../../../domain/money/terms.ts';
import { listDecidedSweeps } from '../../../store/chain/chain-events.ts';
import { findPaymentSettlement, moveSettlement } from '../../../store/payments/payment-settlements.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { settlePayments } from '../../paying/note-payments.ts';

/**
 * Records the settlement of a payment, once all money that paid it is swept to the merchant's own account. In the given lots, fees that
 * are owed count as taken (`countOwed`), so the `net` of a lot does not contain them.
 */
export async function settleDirect(
  tx: Tx,
  { payment, ending, lots }: { readonly payment: Payment; readonly ending: PaidEnding; readonly lots: readonly Lot[] },
  at: Date,
): Promise<void> {
  const { id: paymentId } = payment;
  const paying = lots.filter(({ isPaying, address }) => isPaying && address !== null);
  const [first] = paying;
  const isWhole = paying.reduce((sum, { amount }) => sum + amount, 0n) === ending.amount;
  if (first === undefined || !isWhole || paying.some(({ waiting, isHeld }) => waiting > 0n || isHeld)) return;
  const { network, commitment, asset, account } = first;
  const events = await listDecidedSweeps(tx, { network, commitment, asset });
  const last = events.at(-1);
  if (last === undefined) return;
  const { transactionHash } = last;
  const settled = await findPaymentSettlement(tx, paymentId);
  if (settled !== undefined) {
    // A deep reorg may have removed the sweep that the stored settlement names.
    const isGone = events.every((event) => event.transactionHash !== settled.transactionHash);
    if (isGone) await moveSettlement(tx, { paymentId, transactionHash });
    return;
  }
  const net = paying.reduce((sum, lot) => sum + lot.net, 0n);
  const settlement = { paymentId, asset, amount: net.toString(), recipient: account, transactionHash, at };
  const evidence = { network, transaction: transactionHash, block: last.blockNumber };
  await settlePayments(tx, [settlement], { actor: 'watcher', evidence, at });
}
