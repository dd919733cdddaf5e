import { mostFeesOf } from '../domain/deposit.ts';
import type { Lot } from '../domain/money/terms.ts';
import { findDepositsBy } from '../store/chain/deposits.ts';
import type { Reader } from '../store/plumbing/database.ts';

/**
 * Counts the unpaid fee of a sweep as taken. If a token refuses the transfer to the fee account, a sweep pays the net amount and leaves
 * the fee at the deposit address, where the next sweep tries it again. Counted as taken, that fee does not hold up money of the merchant
 * or the payer. A fee belongs to the whole address, so all swept lots of an address are compared with it together.
 */
export async function withOwedFees<L extends Lot>(db: Reader, lots: readonly L[]): Promise<readonly L[]> {
  const swept = lots.filter(({ address, amount, waiting }) => address !== null && waiting < amount);
  const places = Map.groupBy(swept, ({ network, commitment, asset }) => `${network} ${commitment} ${asset}`);
  const partly = [...places.values()].filter((place) => place.some(({ waiting }) => waiting > 0n));
  if (partly.length === 0) return lots;
  const commitments = partly.flatMap(([lot]) => lot?.commitment ?? []);
  const deposits = await findDepositsBy(db, commitments);
  const owing = new Set(
    partly.flatMap((place) => {
      const deposit = deposits.find(({ commitment }) => commitment === place[0]?.commitment);
      const fees = place.reduce((sum, { fee, waiting }) => sum + fee + waiting, 0n);
      const units = place.reduce((sum, { amount }) => sum + amount, 0n);
      return deposit !== undefined && fees <= mostFeesOf(deposit.item, units) ? place.map(({ id }) => id) : [];
    }),
  );
  return lots.map((lot) => (owing.has(lot.id) ? { ...lot, fee: lot.fee + lot.waiting, waiting: 0n } : lot));
}
