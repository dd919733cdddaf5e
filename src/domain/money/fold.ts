import { splitOverpayment } from '../deposit.ts';
import type { LateReason } from '../late-money.ts';
import type { Arrived, Fact, Moved, Paid } from './fact.ts';
import { feeShare, unboundedShare } from './fee-share.ts';
import { countOwed } from './holding.ts';
import { compareMoments, type Moment } from './movement.ts';
import type { Ending, Lot, PaidEnding, PaymentTerms, Way } from './terms.ts';

/**
 * The money of one payment after all facts up to a moment. A fold is plain data, and can be stored as a checkpoint. The time to
 * resume from a checkpoint depends on the number of new facts and of lots, and not on the length of the history. Dust makes no
 * new lots, so a flood of tiny transfers does not slow this down.
 */
export interface Fold {
  readonly terms: PaymentTerms;
  readonly ending: Ending | undefined;
  readonly upTo: Moment | undefined;
  /** The lots by id, in the order of their first movement. */
  readonly lots: ReadonlyMap<string, Lot>;
  /** For each way to pay, the money that came in the asked asset and in time. This money decides whether the payment is paid. */
  readonly counts: ReadonlyMap<string, Count>;
  /** The first item or deposit address that received the whole requested amount. */
  readonly filled: PaidEnding | undefined;
  readonly paid: bigint;
  /** The lot that dust joins, by address, network, asset and class. */
  readonly last: ReadonlyMap<string, string>;
  /** The number of the next lot: per commitment for items, per address and asset within the current transaction for transfers. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly transaction: string;
}

export interface Count {
  readonly units: bigint;
  readonly lots: readonly string[];
}

const NOTHING: Count = { units: 0n, lots: [] };

export function countOf({ counts }: Pick<Fold, 'counts'>, way: Way): Count {
  return counts.get(wayKey(way)) ?? NOTHING;
}

function wayKey({ network, commitment }: Way): string {
  return `${network} ${commitment}`;
}

/** The fields of a fold, mutable while facts are folded in. */
type Work = {
  -readonly [Key in keyof Fold]: Fold[Key] extends ReadonlyMap<infer K, infer V> ? Map<K, V> : Fold[Key];
} & { readonly named: ReadonlySet<string> };

export function beginFold(terms: PaymentTerms, ending: Ending | undefined): Fold {
  const counts = new Map(terms.ways.map((way): [string, Count] => [wayKey(way), NOTHING]));
  const none = { upTo: undefined, filled: undefined, paid: 0n, transaction: '' };
  return { terms, ending, ...none, lots: new Map(), counts, last: new Map(), numbers: new Map() };
}

/**
 * The fold after further facts, taken in the order of their moments. Throws if a fact is not later than the fold: then all facts
 * must be folded again from the beginning.
 */
export function goOn(fold: Fold, facts: readonly Fact[]): Fold {
  if (facts.length === 0) return fold;
  const { terms, ending, upTo, filled, paid, transaction } = fold;
  const work: Work = {
    ...{ terms, ending, upTo, filled, paid, transaction },
    lots: new Map(fold.lots),
    counts: new Map(fold.counts),
    last: new Map(fold.last),
    numbers: new Map(fold.numbers),
    named: new Set(ending?.is === 'paid' ? ending.lots : []),
  };
  for (const fact of facts.toSorted(compareMoments)) {
    if (work.upTo !== undefined && compareMoments(work.upTo, fact) >= 0) {
      throw new RangeError('A fact is not later than the fold: fold all facts from the beginning, each once.');
    }
    step(work, fact);
    work.upTo = fact;
  }
  const { named: _, ...folded } = work;
  return folded;
}

function step(work: Work, fact: Fact): void {
  const way = wayOf(work.terms, fact);
  if (way === undefined) return;
  if (work.transaction !== `${fact.network} ${fact.transaction}`) {
    work.transaction = `${fact.network} ${fact.transaction}`;
    for (const key of work.numbers.keys()) if (key.startsWith('transfer ')) work.numbers.delete(key);
  }
  if (fact.is === 'arrived') arrive(work, way, fact);
  else if (fact.is === 'collected') collect(work, way, fact);
  else sweep(work, way, fact);
}

/**
 * The way to pay that a fact belongs to. It is a way on the fact's own network, if there is one. Otherwise the money has reached
 * a deposit address on another network.
 */
function wayOf({ ways }: PaymentTerms, { network, commitment }: Fact): Way | undefined {
  return (
    ways.find((way) => way.commitment === commitment && way.network === network) ??
    ways.find((way) => way.commitment === commitment && way.kind === 'deposit')
  );
}

/** The class of money at a deposit address, by the chain and the terms alone. The ending of the payment does not change it. */
type Class = 'counting' | 'late' | 'screened' | 'other';

function classOf(way: Way, { network, asset, blockTimeS, isScreened }: Arrived): Class {
  if (way.network !== network || way.asset !== asset) return 'other';
  if (isScreened) return 'screened';
  return blockTimeS <= way.deadlineS ? 'counting' : 'late';
}

function arrive(work: Work, way: Way, fact: Arrived): void {
  const { network, asset, address, amount, first } = fact;
  const kind = classOf(way, fact);
  const own = `${network}/${fact.transaction}/${address}/${asset}/${nextNumber(work, `transfer ${address} ${asset}`)}`;
  const line = `${address} ${network} ${asset} ${kind} ${fact.isScreened}`;
  const isDust = first < (work.terms.dustBelow[asset] ?? 0n);
  const id = (isDust ? work.last.get(line) : undefined) ?? own;
  work.last.set(line, id);
  const reason = reasonOf(work, way, { ...fact, amount: first }, kind);
  if (kind === 'counting') count(work, way, id, amount);
  const lot = { ...lotOf(work, way, fact), address, isScreened: fact.isScreened };
  place(work, { ...lot, id, reason, amount, waiting: amount, fee: 0n, net: 0n });
}

function collect(work: Work, way: Way, fact: Paid): void {
  const { network, commitment, amount, fee } = fact;
  const nth = nextNumber(work, `item ${network} ${commitment}`);
  const id = `${network}/${commitment}/${nth}`;
  // The contract refuses an item after its deadline, so `late` is not expected here.
  const kind = fact.blockTimeS <= way.deadlineS ? 'counting' : 'late';
  const reason = reasonOf(work, way, fact, kind, nth);
  // The Collector accepts a commitment once per method of collection (`Collected.kind`). A second collection is a separate lot,
  // and does not count for the payment.
  if (nth === 0 && kind === 'counting') count(work, way, id, amount);
  const lot = { ...lotOf(work, way, fact), address: null, isScreened: false };
  place(work, { ...lot, id, reason, amount, waiting: 0n, fee, net: amount - fee });
}

function lotOf({ terms }: Work, { commitment, recipient, isHeld }: Way, { network, asset }: Fact) {
  const common = { payment: terms.payment, commitment, network, asset, account: recipient, isHeld };
  return { ...common, owed: 0n, isPaying: false, isUnexplained: false };
}

function nextNumber({ numbers }: Work, key: string): number {
  const number = numbers.get(key) ?? 0;
  numbers.set(key, number + 1);
  return number;
}

function count(work: Work, way: Way, id: string, amount: bigint): void {
  const before = countOf(work, way);
  const lots = before.lots.at(-1) === id ? before.lots : [...before.lots, id];
  const units = before.units + amount;
  work.counts.set(wayKey(way), { units, lots });
  if (work.filled !== undefined || units < way.asked) return;
  const { network, commitment, asked } = way;
  work.filled = { is: 'paid', network, commitment, amount: asked, lots };
}

function reasonOf(
  work: Work,
  way: Way,
  { network, blockTimeS, amount }: Fact,
  kind: Class,
  nth = 0,
): LateReason | null {
  const { ending } = work;
  if (kind === 'other') return network === way.network ? 'wrong_token' : 'wrong_network';
  if (ending === undefined) return nth > 0 ? 'paid_twice' : kind === 'late' ? 'late' : null;
  if (ending.is === 'paid') {
    const isSameWay = ending.network === way.network && ending.commitment === way.commitment;
    return isSameWay && nth === 0 ? 'overpaid' : 'paid_twice';
  }
  const isTooLittle = kind === 'screened' || countOf(work, way).units + amount < way.asked;
  return kind !== 'late' && isTooLittle && blockTimeS <= ending.untilS ? 'underpaid' : 'late';
}

/**
 * Adds money to its lot. If the payment's ending names the lot as paying, the lot pays at most the amount of the ending. The
 * excess becomes a separate lot.
 */
function place(work: Work, part: Lot): void {
  const { ending, named } = work;
  if (ending?.is !== 'paid' || !named.has(part.id)) {
    join(work, part);
    return;
  }
  const { paying } = splitOverpayment(part.amount, ending.amount - work.paid);
  work.paid += paying;
  const [first, rest] = divide(part, paying);
  if (first.amount > 0n) join(work, { ...first, isPaying: true, reason: null });
  if (rest.amount > 0n) join(work, { ...rest, id: `${part.id}/rest`, reason: 'overpaid' });
}

/**
 * Splits new money into two parts. Either all of the money waits at the deposit address or none of it, so fee and net amount are
 * split in the same proportion.
 */
function divide(part: Lot, units: bigint): [Lot, Lot] {
  const fee = feeShare({ fee: part.fee, of: part.amount }, 0n, units);
  const isWaiting = part.waiting > 0n;
  const waiting = isWaiting ? units : 0n;
  const first = { ...part, amount: units, waiting, fee, net: isWaiting ? 0n : units - fee };
  const rest = {
    ...part,
    amount: part.amount - first.amount,
    waiting: part.waiting - first.waiting,
    fee: part.fee - first.fee,
    net: part.net - first.net,
  };
  return [first, rest];
}

function join({ lots }: Work, part: Lot): void {
  const before = lots.get(part.id);
  if (before === undefined) {
    lots.set(part.id, part);
    return;
  }
  lots.set(part.id, {
    ...before,
    amount: before.amount + part.amount,
    waiting: before.waiting + part.waiting,
    fee: before.fee + part.fee,
    net: before.net + part.net,
  });
}

/**
 * Moves the lots that wait at the address to the recipient: first the lots that count, then the others, both in their order. The
 * fee is divided among the lots in proportion (`feeShare`). If the swept amount exceeds the asked amount, but the fee does
 * not exceed the asked fee, then only the asked amount bears the fee. If the token refuses the fee account, each lot keeps its
 * share of the fee at the address.
 */
function sweep(work: Work, way: Way, fact: Moved): void {
  const { network, asset, address, amount, transaction } = fact;
  if (amount === 0n) return;
  const { fee, units, isRefused } = takeOwed(work, way, fact);
  const isCapped = fee <= way.fee && units > way.asked;
  const schedule = { fee, of: isCapped ? way.asked : units };
  let moved = 0n;
  const move = (lot: Lot, part: bigint) => {
    const share = feeShare(schedule, moved, moved + part);
    moved += part;
    const left = isRefused ? share : 0n;
    work.lots.set(lot.id, {
      ...lot,
      waiting: lot.waiting - part + left,
      owed: lot.owed + left,
      fee: lot.fee + share - left,
      net: lot.net + part - share,
    });
  };
  for (const lot of waitingAt(work, fact)) {
    const left = units - moved;
    const free = lot.waiting - lot.owed;
    if (left > 0n) move(lot, free < left ? free : left);
  }
  const unexplained = units - moved;
  if (unexplained === 0n) return;
  const id = `${network}/${transaction}/${address}/${asset}/swept`;
  join(work, {
    ...{
      ...lotOf(work, way, fact),
      id,
      address,
      isScreened: false,
      isUnexplained: true,
      reason: unexplainedReason(way, fact),
    },
    ...{ amount: unexplained, waiting: unexplained, fee: 0n, net: 0n },
  });
  const lot = work.lots.get(id);
  if (lot !== undefined) move(lot, unexplained);
}

/** The lots at the address of a sweep, in the order in which the sweep moves them. */
function waitingAt({ lots }: Work, { network, asset, address }: Moved): readonly Lot[] {
  const waiting = [...lots.values()].filter(
    (lot) => lot.waiting > 0n && lot.address === address && lot.network === network && lot.asset === asset,
  );
  return [...waiting.filter(isFirst), ...waiting.filter((lot) => !isFirst(lot))];
}

/** The money of a sweep without the fees that earlier sweeps left unpaid, and the fee on that money. */
interface Taken {
  readonly units: bigint;
  readonly fee: bigint;
  /** True if the token refused the fee account. Then the fee is still at the address. */
  readonly isRefused: boolean;
}

/**
 * Separates the money of a sweep from the fees that earlier sweeps left unpaid. These fees count as paid if the sweep paid them.
 * The contract takes the whole balance of an address, and pays the fee account either everything that is due or nothing. If a
 * sweep has paid no fee, the money that remained at the address is the fee that the token refused to pay. If more remained than a
 * fee can be, it is other money.
 */
function takeOwed(work: Work, way: Way, fact: Moved): Taken {
  const { amount, fee } = fact;
  const waiting = waitingAt(work, fact);
  const owed = waiting.reduce((sum, lot) => sum + lot.owed, 0n);
  const left = waiting.reduce((sum, lot) => sum + lot.waiting, 0n) - amount - owed;
  if (fee === 0n && left >= 0n && left <= unboundedShare({ fee: way.fee, of: way.asked }, amount + left)) {
    return { units: amount + left, fee: left, isRefused: true };
  }
  const isPaid = fee >= owed;
  for (const lot of waiting) {
    work.lots.set(lot.id, isPaid ? countOwed(lot) : { ...lot, owed: 0n });
  }
  return isPaid
    ? { units: amount - owed, fee: fee - owed, isRefused: false }
    : { units: amount, fee, isRefused: false };
}

function unexplainedReason(way: Way, { network, asset }: Moved): LateReason {
  if (way.network !== network) return 'wrong_network';
  return way.asset === asset ? 'overpaid' : 'wrong_token';
}

/** True for a lot that paid, or may still pay. A sweep moves such lots first. */
function isFirst({ isPaying, reason, isScreened }: Lot): boolean {
  return isPaying || (reason === null && !isScreened);
}
