import { ACCOUNTS, addUp, type Entry, type EntrySubject, entry, type Line } from '../books.ts';
import type { Debt } from './holding.ts';
import type { Lot } from './terms.ts';

/** The lines in the books of one deposit address or item, in one asset on one network. They add up to zero. */
export interface Posting {
  readonly network: string;
  readonly asset: string;
  /** The commitment of the address or item. For a debt, the id of the payment. */
  readonly reference: string;
  readonly lines: readonly Line[];
}

/**
 * The lines that the books should have for a payment: every unit of its lots, in the account that the unit has reached. Orders
 * that take money out have entries of their own. If an order took money that a reorg removed later, the amount is booked as
 * missing. So no account of the merchant falls below zero, and no other merchant's money covers the debt.
 */
export function bookedPosition(
  { payment, merchant }: { readonly payment: string; readonly merchant: string },
  { lots, debts }: { readonly lots: readonly Lot[]; readonly debts: readonly Debt[] },
): readonly Posting[] {
  const sums = new Map<string, { network: string; asset: string; reference: string; lines: Line[] }>();
  const add = (about: { network: string; asset: string }, reference: string, lines: readonly Line[]) => {
    const { network, asset } = about;
    const sum = sums.get(keyOf({ network, asset, reference })) ?? { network, asset, reference, lines: [] };
    sum.lines.push(...lines);
    sums.set(keyOf(sum), sum);
  };
  for (const lot of lots) {
    add(lot, lot.commitment, [
      { account: ACCOUNTS.payer, units: -lot.amount },
      { account: ACCOUNTS.deposits, units: lot.waiting },
      { account: ACCOUNTS.fees, units: lot.fee },
      { account: lot.isHeld ? ACCOUNTS.payable(merchant) : ACCOUNTS.settled(merchant), units: lot.net },
    ]);
  }
  for (const debt of debts) {
    add(debt, payment, [
      { account: ACCOUNTS.payable(merchant), units: debt.amount },
      { account: ACCOUNTS.missing(debt.account), units: -debt.amount },
    ]);
  }
  return [...sums.values()].map(({ lines, ...about }) => ({ ...about, lines: addUp(lines) }));
}

/** The transaction and block on chain of the newest fact from which the entries of a reference are computed. */
export interface LatestFact {
  readonly transaction: string;
  readonly block: number;
}

/**
 * The entries that turn the lines booked last into the new ones. No other code books money that arrives at deposit addresses.
 * Arrivals and sweeps are separate entries, so that people can read them.
 */
export function positionEntries(
  about: Pick<EntrySubject, 'subject' | 'merchantId'>,
  last: readonly Posting[],
  next: readonly Posting[],
  latest: (posting: Posting) => LatestFact | undefined,
): Entry[] {
  const before = new Map(last.map((each) => [keyOf(each), each]));
  const after = new Map(next.map((each) => [keyOf(each), each]));
  return [...new Map([...before, ...after])].flatMap(([key, posting]) => {
    const changed = addUp([
      ...(after.get(key)?.lines ?? []),
      ...(before.get(key)?.lines ?? []).map(({ account, units }) => ({ account, units: -units })),
    ]);
    if (changed.length === 0) return [];
    const { network, asset, reference } = posting;
    const subject = { network, asset, reference, ...about };
    const arrived = -(changed.find(({ account }) => account === ACCOUNTS.payer)?.units ?? 0n);
    const rest = addUp([
      ...changed,
      { account: ACCOUNTS.payer, units: arrived },
      { account: ACCOUNTS.deposits, units: -arrived },
    ]);
    const swept = -(rest.find(({ account }) => account === ACCOUNTS.deposits)?.units ?? 0n);
    const fact = latest(posting);
    const come = [
      { account: ACCOUNTS.payer, units: -arrived },
      { account: ACCOUNTS.deposits, units: arrived },
    ];
    return [
      ...(arrived === 0n ? [] : [entry('deposited', subject, come, arrived > 0n && fact ? { block: fact.block } : {})]),
      ...(rest.length === 0 ? [] : [entry(swept < 0n ? 'unswept' : 'swept', subject, rest, swept > 0n ? fact : {})]),
    ];
  });
}

function keyOf({ network, asset, reference }: Pick<Posting, 'network' | 'asset' | 'reference'>): string {
  return `${network} ${asset} ${reference}`;
}
