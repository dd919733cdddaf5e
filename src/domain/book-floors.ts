import { ACCOUNTS, addUp, type Entry, type EntryKind, INTERMEDIATE } from './books.ts';

/**
 * The floor of the books: a balance that stands for money on our accounts on chain must not fall below zero. An entry that spends
 * more than the balance is refused. An entry that records a fact of the chain is never refused: the part that exceeds the balance
 * is booked on a `missing/` account.
 */

/**
 * The rule at the floor for each kind of entry. spends: the gateway decides to use money, and must not use more than the balance.
 * records: the chain has already moved the money, or the money goes back to its source; an excess is booked as missing. arrives:
 * money arrives, or a reorg removes it; the floor does not apply, because the debts of the payment's lots book an excess as
 * missing.
 */
const KINDS: Readonly<Record<EntryKind, 'spends' | 'records' | 'arrives'>> = {
  accepted: 'arrives',
  unpaid: 'arrives',
  paid: 'arrives',
  reverted: 'arrives',
  deposited: 'arrives',
  swept: 'arrives',
  unswept: 'arrives',
  rebuilt: 'records',
  payout_rebuilt: 'records',
  refund_rebuilt: 'records',
  return_rebuilt: 'records',
  payout_sent: 'spends',
  payout_done: 'records',
  payout_failed: 'records',
  refund_covered: 'spends',
  refund_sent: 'spends',
  refund_done: 'records',
  refund_failed: 'records',
  refund_uncovered: 'records',
  refund_fee_returned: 'spends',
  held_to_float: 'spends',
  float_added: 'records',
  departed: 'records',
  float_return_sent: 'spends',
  float_returned: 'records',
  float_return_failed: 'records',
  stray_received: 'spends',
  stray_covered: 'spends',
  stray_return_sent: 'spends',
  stray_returned: 'records',
  stray_return_failed: 'records',
  relayer_funded: 'records',
  gas: 'records',
  coin_renamed: 'records',
};

/** The total change that several entries make to one account of the books, in one asset. */
export interface Change {
  readonly network: string;
  readonly account: string;
  readonly asset: string;
  readonly units: bigint;
}

export class FloorError extends Error {
  constructor({ account, asset }: Change, kind: EntryKind) {
    super(`The books refuse ${kind}: ${account} has less of ${asset}.`);
    this.name = 'FloorError';
  }
}

/**
 * The accounts with a floor whose balance the entries reduce in total, each with this total as a negative number. Kinds of
 * entries that `arrive` do not count.
 */
export function takenBy(entries: readonly Entry[]): Change[] {
  const sums = new Map<string, Change>();
  for (const { network, asset, kind, lines } of entries) {
    if (KINDS[kind] === 'arrives') continue;
    for (const { account, units } of lines) {
      if (!account.startsWith(INTERMEDIATE)) continue;
      const key = `${account} ${asset}`;
      sums.set(key, { network, account, asset, units: (sums.get(key)?.units ?? 0n) + units });
    }
  }
  return [...sums.values()].filter(({ units }) => units < 0n);
}

/**
 * The entries in the form in which they may be written, if the accounts have these balances. Throws a FloorError if an entry that
 * `spends` takes more than its account has. The excess of an entry that `records` is booked on an account of missing money. A
 * balance below zero counts as zero.
 */
export function aboveFloors(
  entries: readonly Entry[],
  { balances, missing }: { readonly balances: readonly Change[]; readonly missing: (network: string) => string },
): Entry[] {
  const result = [...entries];
  for (const taken of takenBy(entries)) {
    const isSame = ({ account, asset }: Pick<Change, 'account' | 'asset'>) =>
      account === taken.account && asset === taken.asset;
    const has = balances.find(isSame)?.units ?? 0n;
    let excess = -taken.units - (has > 0n ? has : 0n);
    // The excess is charged to the last entries that take from the account.
    for (let index = result.length - 1; index >= 0 && excess > 0n; index -= 1) {
      const entry = result[index] as Entry;
      const line = entry.lines.find(({ account, units }) => units < 0n && isSame({ account, asset: entry.asset }));
      if (line === undefined || KINDS[entry.kind] === 'arrives') continue;
      if (KINDS[entry.kind] === 'spends') throw new FloorError(taken, entry.kind);
      const part = excess < -line.units ? excess : -line.units;
      const lack = { account: ACCOUNTS.missing(missing(entry.network)), units: -part };
      result[index] = { ...entry, lines: addUp([...entry.lines, { account: line.account, units: part }, lack]) };
      excess -= part;
    }
  }
  return result;
}
