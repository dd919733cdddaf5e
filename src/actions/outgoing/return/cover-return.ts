import { OPERATOR_FLOAT } from '../../../domain/books.ts';
import { countOwed, holdingsOf, type Spend } from '../../../domain/money/holding.ts';
import { coverReturn } from '../../../domain/money/money-out.ts';
import { type Cover, coverOf, type RefundHold } from '../../../domain/refund.ts';
import { findLotsOf, findSpendsOf } from '../../../store/money/lots.ts';
import { hasOutdatedPosition } from '../../../store/money/positions.ts';
import type { UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import type { Reader } from '../../../store/plumbing/database.ts';

type CoveredReturn = Pick<UnexpectedMoney, 'amount' | 'fee' | 'isHeld' | 'merchantId' | 'lotId'>;

export type ReturnParts = Cover & { readonly merchantId: string };

/** The cover of a return: the spends of its own lot and the parts that floats pay, or the reason why it cannot be covered yet. */
export type ReturnCover =
  | { readonly is: 'covered'; readonly cover: ReturnParts; readonly spends: readonly Spend[] }
  | { readonly is: 'waiting'; readonly for: RefundHold };

/**
 * Computes the cover of a return. Late money pays its own return while it is held. With `mayWait`, the return waits for the sweep of dust
 * that has joined the lot since the last sweep. Without it, the float of the merchant, who gets that dust later, pays the dust now. A
 * requested amount is fixed, so dust that comes after the request delays nothing. A caller that stores the spends has locked the payment.
 */
export async function findReturnCover(
  db: Reader,
  unexpected: UnexpectedMoney,
  { mayWait }: { readonly mayWait: boolean },
): Promise<ReturnCover> {
  const { id, lotId, paymentId } = unexpected;
  if (lotId === null || paymentId === null) return { is: 'covered', cover: coverOfReturn(unexpected, 0n), spends: [] };
  const [stored, spends] = await Promise.all([findLotsOf(db, [paymentId]), findSpendsOf(db, [paymentId])]);
  const lots = stored.map(countOwed);
  const lot = lots.find((each) => each.id === lotId);
  if (lot === undefined) return { is: 'waiting', for: 'arrival' };
  if (await hasOutdatedPosition(db, paymentId)) return { is: 'waiting', for: 'position' };
  const covered = coverReturn(holdingsOf(lots, spends), lot);
  if (covered.is === 'waiting') return covered;
  const most = BigInt(unexpected.amount) - BigInt(unexpected.fee);
  // The lot may have grown by dust after the return was requested. The return keeps its stored amount.
  const own = covered.spends.map((spend) => ({
    ...spend,
    order: id,
    amount: spend.amount < most ? spend.amount : most,
  }));
  const taken = own.filter(({ amount }) => amount > 0n);
  const units = taken.reduce((sum, { amount }) => sum + amount, 0n);
  const lacking = most - units;
  if (mayWait && lot.isHeld && lacking > 0n && lot.waiting >= lacking) return { is: 'waiting', for: 'sweep' };
  return { is: 'covered', cover: coverOfReturn(unexpected, units), spends: taken };
}

/**
 * The parts that pay the return of unexpected money: its lot, and floats for the rest. A plain transfer is returned without floats. Late
 * money of older versions has no lot: if it was held, it pays for its own return.
 */
export function coverOfReturn(unexpected: CoveredReturn, fromLot: bigint): ReturnParts {
  const [amount, fee] = [BigInt(unexpected.amount), BigInt(unexpected.fee)];
  const held = unexpected.lotId === null && unexpected.isHeld ? amount - fee : fromLot;
  return { ...coverOf({ amount, fee, held }), merchantId: unexpected.merchantId ?? '' };
}

/** The units that each float pays. */
export function partsOf({ merchantId, merchant, operator }: ReturnParts) {
  return [
    { owner: merchantId, units: merchant },
    { owner: OPERATOR_FLOAT, units: operator },
  ];
}

/**
 * The cover of a return, by accounts of the books. The part that a lot pays comes from the merchant's payable money. Money without a lot
 * is booked as unexpected money already.
 */
export function bookedCover({ lotId }: Pick<UnexpectedMoney, 'lotId'>, { held, merchant, operator }: Cover) {
  return { payable: lotId === null ? 0n : held, merchantFloat: merchant, operatorFloat: operator };
}
