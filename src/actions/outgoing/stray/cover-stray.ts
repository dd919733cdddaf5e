import { OPERATOR_FLOAT } from '../../../domain/books.ts';
import { holdingsOf, type Spend } from '../../../domain/money/holding.ts';
import { coverReturn } from '../../../domain/money/money-out.ts';
import { type Cover, coverOf, type RefundHold } from '../../../domain/refund.ts';
import { findLot, findLotsOf, findSpendsOf } from '../../../store/money/lots.ts';
import { hasStalePosition } from '../../../store/money/positions.ts';
import type { Stray } from '../../../store/money/strays.ts';
import type { Reader } from '../../../store/plumbing/database.ts';

type CoveredStray = Pick<Stray, 'amount' | 'fee' | 'isHeld' | 'merchantId' | 'lotId'>;

export type StrayCover = Cover & { readonly merchantId: string };

/** The cover of a return: the spends of its own lot and the parts that floats pay, or the reason why it cannot be covered yet. */
export type ReturnCover =
  | { readonly is: 'covered'; readonly cover: StrayCover; readonly spends: readonly Spend[] }
  | { readonly is: 'waiting'; readonly for: RefundHold };

/** Late money pays its own return while it is held. A caller that stores the spends has locked the payment. */
export async function findReturnCover(db: Reader, stray: Stray): Promise<ReturnCover> {
  const { id, lotId, paymentId } = stray;
  if (lotId === null || paymentId === null) return { is: 'covered', cover: coverOfStray(stray, 0n), spends: [] };
  const lot = await findLot(db, lotId);
  if (lot === undefined) return { is: 'waiting', for: 'arrival' };
  if (await hasStalePosition(db, paymentId)) return { is: 'waiting', for: 'position' };
  const [lots, spends] = await Promise.all([findLotsOf(db, [paymentId]), findSpendsOf(db, [paymentId])]);
  const covered = coverReturn(holdingsOf(lots, spends), lot);
  if (covered.is === 'waiting') return covered;
  const most = BigInt(stray.amount) - BigInt(stray.fee);
  // The lot may have grown by dust since. The return keeps its stored amount.
  const own = covered.spends.map((spend) => ({
    ...spend,
    order: id,
    amount: spend.amount < most ? spend.amount : most,
  }));
  const taken = own.filter(({ amount }) => amount > 0n);
  const units = taken.reduce((sum, { amount }) => sum + amount, 0n);
  return { is: 'covered', cover: coverOfStray(stray, units), spends: taken };
}

/**
 * The parts that pay the return of unexpected money. A plain transfer needs no addition. Late money of older versions has no lot:
 * if it was held, it pays for itself.
 */
export function coverOfStray(stray: CoveredStray, fromLot: bigint): StrayCover {
  const [amount, fee] = [BigInt(stray.amount), BigInt(stray.fee)];
  const held = stray.lotId === null && stray.isHeld ? amount - fee : fromLot;
  return { ...coverOf({ amount, fee, held }), merchantId: stray.merchantId ?? '' };
}

/** The units that each float pays. */
export function partsOf({ merchantId, merchant, operator }: StrayCover) {
  return [
    { owner: merchantId, units: merchant },
    { owner: OPERATOR_FLOAT, units: operator },
  ];
}

/**
 * The cover in the books. The part of a lot comes from the merchant's payable money. Late money of older versions is booked as
 * unexpected money already.
 */
export function bookedCover({ lotId }: Pick<Stray, 'lotId'>, { held, merchant, operator }: Cover) {
  return { payable: lotId === null ? 0n : held, merchantFloat: merchant, operatorFloat: operator };
}
