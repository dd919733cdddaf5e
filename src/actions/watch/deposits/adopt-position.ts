import type { HeldLot, Spend } from '../../../domain/money/holding.ts';
import { holdingsOf, least } from '../../../domain/money/holding.ts';
import type { Lot } from '../../../domain/money/terms.ts';
import { findSpendsOf, insertSpends } from '../../../store/money/lots.ts';
import { type Adopted, putAdopted } from '../../../store/money/positions.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

/**
 * Applies to the lots what an older version had done with the money: its payouts, refunds and floats have spent them, under the
 * ids of then. Returns the lots that the partner was told of, whose names of then stay.
 */
export async function adoptPosition(
  tx: Tx,
  {
    paymentId,
    adopted,
    lots,
  }: { readonly paymentId: string; readonly adopted: Adopted; readonly lots: readonly Lot[] },
): Promise<ReadonlySet<string>> {
  if (adopted.spends.length === 0 && adopted.told.length === 0) return new Set(adopted.named);
  const before = await findSpendsOf(tx, [paymentId]);
  const spends: Spend[] = [];
  for (const { order, purpose, network, asset, units } of adopted.spends) {
    const { held } = holdingsOf(lots, [...before, ...spends]);
    const fit = held.filter((lot) => lot.network === network && lot.asset === asset);
    const isFirst = ({ isPaying }: HeldLot) => isPaying === (purpose !== 'float');
    const ordered = [...fit.filter(isFirst), ...fit.filter((lot) => !isFirst(lot))];
    let left = BigInt(units);
    for (const [index, lot] of ordered.entries()) {
      // What no lot covers is a debt of the last one: the books of then say that it was spent.
      const isLast = index === ordered.length - 1;
      const amount = isLast ? left : least(left, lot.remainder);
      left -= amount;
      const { id, account } = lot;
      const about = { order, purpose, lot: id, payment: paymentId, network, asset, account };
      if (amount > 0n) spends.push({ ...about, amount, isDone: true });
    }
  }
  await insertSpends(tx, spends);
  const named = adopted.told.flatMap(({ network, asset, units }) => {
    let told = BigInt(units);
    const unexpected = lots.filter((lot) => lot.network === network && lot.asset === asset && lot.reason !== null);
    return unexpected.flatMap(({ id, amount }) => {
      if (told <= 0n) return [];
      told -= amount;
      return [id];
    });
  });
  await putAdopted(tx, paymentId, { spends: [], told: [], named });
  return new Set(named);
}
