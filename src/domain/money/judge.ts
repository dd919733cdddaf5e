import { leastPaid } from '../deposit.ts';
import type { Fact } from './fact.ts';
import { beginFold, countOf, type Fold, goOn } from './fold.ts';
import type { Ending, Lot, PaymentTerms, Way } from './terms.ts';

/**
 * The time of the last final block of each network, in Unix seconds. All facts up to this block have been read. Each network
 * has its own time, so that a network that stands still does not delay a payment on another.
 */
export type FinalTimes = ReadonlyMap<string, number>;

/** The ending of a payment. Undefined while the payment is open. */
export function judge(terms: PaymentTerms, facts: readonly Fact[], finalTimes: FinalTimes): Ending | undefined {
  return judgeFold(goOn(beginFold(terms, undefined), facts), finalTimes);
}

/** The ending of a payment, like `judge`, from a fold that was made without an ending. */
export function judgeFold(fold: Fold, finalTimes: FinalTimes): Ending | undefined {
  const { terms, filled } = fold;
  if (filled !== undefined) return filled;
  const isOver = ({ network, deadlineS }: Way) => (finalTimes.get(network) ?? -1) > deadlineS;
  // Once a final block is later than the deadline of a way to pay, no more money can come in time. Then the operator's tolerance
  // for underpayment applies.
  for (const way of terms.ways.filter(isOver)) {
    const { units, lots } = countOf(fold, way);
    const { network, commitment, asked, kind } = way;
    const isEnough = kind === 'deposit' && units > 0n && units >= leastPaid(asked, terms.toleranceBasisPoints);
    if (isEnough) return { is: 'paid', network, commitment, amount: units, lots };
  }
  if (terms.ways.length === 0 || !terms.ways.every(isOver)) return undefined;
  return { is: 'unpaid', untilS: Math.max(...terms.ways.map(({ deadlineS }) => deadlineS)) };
}

/** The lots of a payment, in the order of their first movements. */
export function position(terms: PaymentTerms, facts: readonly Fact[], ending: Ending | undefined): readonly Lot[] {
  return lotsOf(goOn(beginFold(terms, ending), facts));
}

export function lotsOf(fold: Fold): readonly Lot[] {
  return [...fold.lots.values()];
}
