import { splitOverpayment } from '../../../domain/deposit.ts';
import type { PaidEnding } from '../../../domain/money/terms.ts';
import { findCompleting } from '../../../store/chain/deposit-progress.ts';
import { listMovements } from '../../../store/chain/movements.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { moveLocked } from '../../paying/move-locked.ts';
import { buyerOf, confirmedBy, movementEvidence } from './notice-deposit.ts';
import type { PositionFacts } from './read-position.ts';

/** The maximum number of movements that the evidence of the event lists: the largest movements. */
const MAX_NAMED = 50;

/**
 * Ends a locked payment as succeeded, because enough money has come in time and is proved. Undefined if the payment cannot succeed
 * any more.
 */
export async function payByDeposit(
  tx: Tx,
  { payment, ending, known }: { readonly payment: Payment; readonly ending: PaidEnding; readonly known: PositionFacts },
  at: Date,
): Promise<Payment | undefined> {
  const { network, commitment, amount } = ending;
  const deposit = known.deposits.find((each) => each.commitment === commitment && each.network === network);
  if (deposit === undefined) return undefined;
  const { asset, item } = deposit;
  const ask = { network, commitment, asset, deadline: item.deadline };
  const [last, movements] = [
    await findCompleting(tx, { ...ask, asked: amount.toString() }),
    await listMovements(tx, { network, commitment, asset, limit: MAX_NAMED }),
  ];
  const own = known.facts.filter(
    (fact) => fact.commitment === commitment && fact.network === network && fact.asset === asset,
  );
  const arrived = own.filter(({ is }) => is === 'arrived').reduce((sum, fact) => sum + fact.amount, 0n);
  const { overpaid } = splitOverpayment(arrived, amount);
  // If no log of a transfer is known, after a rebuild or because the log was lost, the payment shows the transaction of the sweep.
  const sweep = own.find(({ is }) => is === 'swept');
  const evidence = {
    network,
    commitment,
    block: own.reduce((latest, { block }) => Math.max(latest, block), 0),
    arrived: arrived.toString(),
    ...(overpaid > 0n && { overpaid: overpaid.toString() }),
    transfers: movements.map(movementEvidence),
  };
  const move = { paymentId: payment.id, actor: 'watcher', evidence };
  const proof = last && { transaction: last.transactionHash, block: last.blockNumber };
  const confirmed = { ...move, event: confirmedBy(deposit, amount, last?.sender) };
  const succeeded = {
    ...move,
    event: {
      type: 'succeeded',
      buyer: buyerOf(deposit, last?.sender),
      token: { asset, value: amount },
      transaction: { hash: last?.transactionHash ?? sweep?.transaction ?? '', nonce: null },
    },
    items: { ended: [{ key: item.key, state: 'paid', reason: null, ...(proof && { proof }) }] },
  } as const;
  const moves = payment.status === 'requires_action' ? [confirmed, succeeded] : [succeeded];
  const outcome = (await moveLocked(tx, [payment], moves, at)).at(-1);
  return outcome?.ok === true ? outcome.payment : undefined;
}
