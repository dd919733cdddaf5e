import { ACCOUNTS, addUp, difference, type Line } from '../books.ts';
import type { Holdings, Spend } from './holding.ts';

/** The lines of one asset on one network. They add up to zero. */
export interface Posting {
  readonly network: string;
  readonly asset: string;
  readonly lines: readonly Line[];
}

/** The lack of an account: money that was spent, and whose arrival has left the chain. */
function missingAt(account: string): string {
  return `missing/${account}`;
}

/** The whole position of a payment in the books: every unit that came from a payer, in the account where it is now. */
export function bookedPosition(merchant: string, { lots, held, debts, spends }: Holdings): readonly Posting[] {
  const sums = new Map<string, { network: string; asset: string; lines: Line[] }>();
  const add = (about: { network: string; asset: string }, account: string, units: bigint) => {
    if (units === 0n) return;
    const sum = sums.get(keyOf(about)) ?? { network: about.network, asset: about.asset, lines: [] };
    sum.lines.push({ account, units });
    sums.set(keyOf(about), sum);
  };
  for (const lot of lots) {
    add(lot, ACCOUNTS.payer, -lot.amount);
    add(lot, ACCOUNTS.deposits, lot.waiting);
    add(lot, ACCOUNTS.fees, lot.fee);
    if (!lot.isHeld) add(lot, ACCOUNTS.settled(merchant), lot.net);
  }
  for (const lot of held) add(lot, ACCOUNTS.payable(merchant), lot.remainder);
  for (const spend of spends) add(spend, accountOf(merchant, spend), spend.amount);
  for (const debt of debts) add(debt, missingAt(debt.account), -debt.amount);
  return [...sums.values()].map((sum) => posting(sum, addUp(sum.lines)));
}

function accountOf(merchant: string, { purpose, isDone }: Spend): string {
  if (!isDone) return ACCOUNTS.outgoing;
  return purpose === 'payout' ? ACCOUNTS.settled(merchant) : ACCOUNTS.payer;
}

/** The entries that turn the position that was last booked into the new one. Nothing else books money that arrives. */
export function bookedDifference(last: readonly Posting[], next: readonly Posting[]): readonly Posting[] {
  const before = new Map(last.map((each) => [keyOf(each), each]));
  const after = new Map(next.map((each) => [keyOf(each), each]));
  return [...new Map([...before, ...after])].flatMap(([key, about]) => {
    const lines = difference(after.get(key)?.lines ?? [], before.get(key)?.lines ?? []);
    return lines.length === 0 ? [] : [posting(about, lines)];
  });
}

function keyOf({ network, asset }: { readonly network: string; readonly asset: string }): string {
  return `${network} ${asset}`;
}

function posting({ network, asset }: Omit<Posting, 'lines'>, lines: readonly Line[]): Posting {
  const total = lines.reduce((sum, { units }) => sum + units, 0n);
  if (total !== 0n) throw new RangeError('A posting does not balance.');
  return { network, asset, lines };
}
