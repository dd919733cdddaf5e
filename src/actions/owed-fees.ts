import { mostFeesOf } from '../domain/deposit.ts';
import type { Lot } from '../domain/money/terms.ts';
import { findDepositsBy } from '../store/chain/deposits.ts';
import type { Reader } from '../store/plumbing/database.ts';

/**
 * Counts a fee that is owed as taken. If a token refuses the fee account, a sweep pays the net amount and leaves the fee at the
 * address, where the next sweep tries it again. So it holds up no money of the merchant or the payer.
 */
export async function withOwedFees<L extends Lot>(db: Reader, lots: readonly L[]): Promise<readonly L[]> {
  const isSweptInPart = ({ waiting, net }: Lot) => waiting > 0n && net > 0n;
  const commitments = lots.filter(isSweptInPart).map(({ commitment }) => commitment);
  if (commitments.length === 0) return lots;
  const deposits = await findDepositsBy(db, commitments);
  return lots.map((lot) => {
    const fee = lot.fee + lot.waiting;
    const isOwed = ({ commitment, item }: (typeof deposits)[number]) =>
      commitment === lot.commitment && fee <= mostFeesOf(item, lot.amount);
    return isSweptInPart(lot) && deposits.some(isOwed) ? { ...lot, fee, waiting: 0n } : lot;
  });
}
