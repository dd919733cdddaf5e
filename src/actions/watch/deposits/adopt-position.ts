import type { HeldLot, Spend } from '../../../domain/money/holding.ts';
import { holdingsOf, least } from '../../../domain/money/holding.ts';
import type { Lot } from '../../../domain/money/terms.ts';
import { findSpendsOf, insertSpends } from '../../../store/money/lots.ts';
import { type Adopted, putAdopted } from '../../../store/money/positions.ts';
import { linkUnexpected } from '../../../store/money/unexpected-money.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

interface Adopting {
  readonly paymentId: string;
  readonly adopted: Adopted;
  readonly lots: readonly Lot[];
}

/**
 * Stores spends of lots for the payouts, refunds and floats that an older version of the gateway ordered without lots. Returns the
 * ids of the lots that must not be reported to the partner again, because the older version has reported them under other ids.
 */
export async function adoptPosition(tx: Tx, { paymentId, adopted, lots }: Adopting): Promise<ReadonlySet<string>> {
  if (adopted.spends.length === 0 && adopted.reported.length === 0) return new Set(adopted.named);
  const before = await findSpendsOf(tx, [paymentId]);
  const spends: Spend[] = [];
  // Orders for which no lot is known yet. They are tried again when the payment's lots are computed the next time.
  const waiting: Adopted['spends'][number][] = [];
  for (const old of adopted.spends) {
    const parts = partsOf(old, { paymentId, lots, spent: [...before, ...spends] });
    if (parts.length === 0) waiting.push(old);
    spends.push(...parts);
  }
  await insertSpends(tx, spends);
  const named = [...(adopted.named ?? []), ...(await nameLots(tx, { adopted, lots }))];
  await putAdopted(tx, paymentId, { spends: waiting, reported: [], named });
  return new Set(named);
}

/**
 * The parts of lots that an order of the older version has spent. Payouts and refunds first take lots that paid the payment. Floats
 * first take the other lots.
 */
function partsOf(
  { order, purpose, network, asset, units }: Adopted['spends'][number],
  { paymentId, lots, spent }: { readonly paymentId: string; readonly lots: readonly Lot[]; readonly spent: Spend[] },
): Spend[] {
  const { held } = holdingsOf(lots, spent);
  const fit = held.filter((lot) => lot.network === network && lot.asset === asset);
  const isFirst = ({ isPaying }: HeldLot) => isPaying === (purpose !== 'float');
  const ordered = [...fit.filter(isFirst), ...fit.filter((lot) => !isFirst(lot))];
  let left = BigInt(units);
  return ordered.flatMap(({ id, account, remainder }, index) => {
    // Units that no lot covers are a debt of the last lot, because the books of the older version show them as spent.
    const isLast = index === ordered.length - 1;
    const amount = isLast ? left : least(left, remainder);
    left -= amount;
    const about = { order, purpose, lot: id, payment: paymentId, network, asset, account };
    return amount > 0n ? [{ ...about, amount, isDone: true }] : [];
  });
}

/**
 * Matches the late money that the older version has reported with lots of unexpected money: each reported row takes the first free
 * lots of its asset until its amount is reached. A row that takes exactly one lot is linked to it, unless the row's return has begun.
 * Returns the ids of the lots that were taken but not linked. They must not be reported again.
 */
async function nameLots(tx: Tx, { adopted, lots }: Pick<Adopting, 'adopted' | 'lots'>): Promise<string[]> {
  const queue = lots.filter(({ reason }) => reason !== null);
  const named: string[] = [];
  for (const { stray, network, asset, units } of adopted.reported) {
    let left = BigInt(units);
    const own: Lot[] = [];
    while (left > 0n) {
      const next = queue.findIndex((lot) => lot.network === network && lot.asset === asset);
      const [lot] = next < 0 ? [] : queue.splice(next, 1);
      if (lot === undefined) break;
      own.push(lot);
      left -= lot.amount;
    }
    const [only] = own;
    const isWhole = only !== undefined && own.length === 1 && left === 0n;
    if (!isWhole || !(await linkUnexpected(tx, { id: stray, lotId: only.id }))) named.push(...own.map(({ id }) => id));
  }
  return named;
}
