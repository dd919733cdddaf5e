import type { PaymentEvent } from '../../../domain/payment.ts';
import { findCompleting, sumCounting } from '../../../store/chain/deposit-progress.ts';
import type { OpenDeposit } from '../../../store/chain/deposits.ts';
import { listMovements, type StoredMovement } from '../../../store/chain/movements.ts';
import type { WatchDeps, Watcher } from '../watcher.ts';

/** The maximum number of movements that the evidence of the event lists: the largest movements. */
const MAX_NAMED = 50;

/**
 * Moves a payment to `processing` when transfers to its deposit address reach the requested amount, even in blocks that are not
 * final.
 */
export async function noticeDeposit(deps: WatchDeps, { network, lease }: Watcher, deposit: OpenDeposit): Promise<void> {
  const { commitment, asset, item, paymentId } = deposit;
  if (deposit.paymentStatus !== 'requires_action' || item.network !== network) return;
  const ask = { commitment, network, asset, deadline: item.deadline };
  if ((await sumCounting(deps.db.sql, ask)) < BigInt(item.amount)) return;
  const [last, movements] = await Promise.all([
    findCompleting(deps.db.sql, { ...ask, asked: item.amount }),
    listMovements(deps.db.sql, { network, commitment, asset, limit: MAX_NAMED }),
  ]);
  const evidence = { network, commitment, transfers: movements.map(movementEvidence) };
  const event = confirmedBy(deposit, BigInt(item.amount), last?.sender);
  await deps.movePayment({ paymentId, event, actor: 'watcher', evidence, lease });
}

type Payable = Pick<OpenDeposit, 'network' | 'asset' | 'address'> & {
  readonly item: Pick<OpenDeposit['item'], 'buyerName' | 'buyerIcon'>;
};

export function confirmedBy(deposit: Payable, value: bigint, sender: string | undefined): PaymentEvent {
  const token = { asset: deposit.asset, value };
  return { type: 'confirmed', buyer: buyerOf(deposit, sender), token, isNative: true };
}

/** The buyer of a payment: the sender of the transfer that completed the amount. The sender may be an exchange. */
export function buyerOf({ network, item, address }: Payable, sender: string | undefined) {
  return { account: `${network}:${sender || address}`, name: item.buyerName, icon: item.buyerIcon };
}

export function movementEvidence(movement: StoredMovement) {
  const { transactionHash, logIndex, blockNumber, sender, amount, isScreened } = movement;
  return {
    transaction: transactionHash,
    logIndex,
    block: blockNumber,
    sender,
    amount,
    ...(isScreened && { isScreened }),
  };
}
