import { isByDeposit } from '../../../domain/item.ts';
import { countOwed, holdingsOf, type Spend } from '../../../domain/money/holding.ts';
import { coverRefund } from '../../../domain/money/money-out.ts';
import type { PaidEnding } from '../../../domain/money/terms.ts';
import type { RefundHold, Share } from '../../../domain/refund.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import { deleteSpends, findLotsOf, findSpendsOf, insertSpends } from '../../../store/money/lots.ts';
import { findPosition } from '../../../store/money/positions.ts';
import { findReturning } from '../../../store/money/unexpected-money.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface HeldPart {
  readonly id: string;
  readonly payment: Pick<Payment, 'id'>;
  /** The item that paid the payment. */
  readonly item: StoredItem;
  /** The paid amount. It may be a little less than requested, within the tolerance. */
  readonly paid: bigint;
  readonly share: Pick<Share, 'amount' | 'fee'>;
}

/** The lots that pay a refund, or the reason why they cannot be taken yet. */
export type HeldCover =
  | { readonly is: 'covered'; readonly spends: readonly Spend[]; readonly units: bigint }
  | { readonly is: 'waiting'; readonly for: RefundHold };

/**
 * Takes the held part of a refund, and releases the lots that the refund had taken before. A held amount that is on its way to the
 * merchant belongs to the merchant, and floats pay instead. The caller has locked the payment.
 */
export async function takeHeld(tx: Tx, part: HeldPart): Promise<HeldCover> {
  const cover = await findCover(tx, part);
  if (cover.is === 'waiting') return cover;
  await deleteSpends(tx, part.id);
  await insertSpends(tx, cover.spends);
  return cover;
}

async function findCover(tx: Tx, { id, payment, item, paid, share }: HeldPart): Promise<HeldCover> {
  const position = await findPosition(tx, payment.id);
  if (position?.isOutdated === true) return { is: 'waiting', for: 'position' };
  const lots = (await findLotsOf(tx, [payment.id])).map(countOwed);
  const others = (await findSpendsOf(tx, [payment.id])).filter(({ order }) => order !== id);
  const holdings = holdingsOf(lots, others);
  // Money that went straight to the merchant has no lots. Neither has money of payments that ended before lots existed.
  const isTracked = item.isHeld || (isByDeposit(item.method) && position !== undefined);
  if (!isTracked) {
    return holdings.debts.length > 0 ? { is: 'waiting', for: 'debt' } : { is: 'covered', spends: [], units: 0n };
  }
  const { network, commitment } = item;
  const ending: PaidEnding = { is: 'paid', network, commitment, amount: paid, lots: [] };
  const returning = new Set((await findReturning(tx, payment.id)).map(({ lotId }) => lotId));
  const stopped = new Set(lots.filter(({ isScreened }) => isScreened).map((lot) => lot.id));
  const cover = coverRefund(ending, holdings, { id, ...share }, { stopped, returning, minimum: () => 0n });
  if (cover.is === 'waiting') return cover;
  return { is: 'covered', spends: cover.spends, units: cover.spends.reduce((sum, { amount }) => sum + amount, 0n) };
}

/** The reasons why a refund waits, each as a sentence without its full stop. */
export const HOLD_TEXTS: Readonly<Record<RefundHold, string>> = {
  sweep: 'the money is still at its deposit address, and is swept first',
  debt: 'a reorganisation of the chain took money of the payment that was spent, and it has not come again',
  arrival: 'a reorganisation of the chain took the transfer that paid the payment, and it has not come again',
  position: 'the money of the payment is being computed',
};
