import { ACCOUNTS, addUp, difference, type Line } from '../books.ts';
import type { Holdings, Spend } from './holding.ts';

/** The lines of one asset on one network. They add up to zero. */
export interface Posting {
  readonly network: string;
  readonly asset: string;
  readonly lines: readonly Line[];
}

/** The lack of an account: money that was spent, and whose arrival has left the chain. */
export function missingAt(account: string): string {
  return `missing/${account}`;
}

/** The whole position of a payment in the books: every unit that came from a payer, in the account where it is now. */
export function bookedPosition(merchant: string, { lots, held, debts, spends }: Holdings): readonly Posting[] {
  const remainders = new Map(held.map(({ id, remainder }) => [id, remainder]));
  const lines = [
    ...lots.flatMap(({ id, network, asset, amount, waiting, fee, net, isHeld }) => [
      { network, asset, account: ACCOUNTS.payer, units: -amount },
      { network, asset, account: ACCOUNTS.deposits, units: waiting },
      { network, asset, account: ACCOUNTS.fees, units: fee },
      isHeld
        ? { network, asset, account: ACCOUNTS.payable(merchant), units: remainders.get(id) ?? 0n }
        : { network, asset, account: ACCOUNTS.settled(merchant), units: net },
    ]),
    ...spends.map((spend) => {
      const { network, asset, amount } = spend;
      return { network, asset, account: accountOf(merchant, spend), units: amount };
    }),
    ...debts.map(({ network, asset, account, amount }) => ({
      ...{ network, asset, account: missingAt(account), units: -amount },
    })),
  ];
  const groups = Map.groupBy(lines, keyOf);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [posting(first, addUp(group))];
  });
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
