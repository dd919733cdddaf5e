import { createHash } from 'node:crypto';
import { idBytes, markedId } from '../ids.ts';
import { sum } from '../money.ts';
import type { Sent } from './fact.ts';
import { feeShare } from './fee-share.ts';
import { groupOf, type HeldLot, type Holdings, least, type Spend } from './holding.ts';
import type { Ending, Lot, PaidEnding } from './terms.ts';

/**
 * This file decides how payouts, refunds and returns spend lots, each unit once. Ids of payouts and returns are computed from
 * lots, ids of refunds from payments. So a restored database makes the same orders.
 */

export interface Payout {
  readonly id: string;
  readonly network: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: bigint;
  /** The part of the amount that settles the payment. The rest is unexpected money that is paid out with it. */
  readonly settles: bigint;
  readonly spends: readonly Spend[];
}

export interface PayoutRules {
  /** The ids of lots whose senders are on the screening list. These lots wait for a decision of a person. */
  readonly stopped: ReadonlySet<string>;
  /** The ids of lots whose return was requested. These lots are swept, but not paid out. */
  readonly returning: ReadonlySet<string>;
  /** The least amount of unexpected money that is worth a transfer. It does not apply to money that paid the payment. */
  minimum(asset: string): bigint;
}

/** A deposit address to sweep now. The contract takes the whole balance in the asset. */
export interface Sweep {
  readonly network: string;
  readonly asset: string;
  readonly address: string;
  readonly commitment: string;
  readonly amount: bigint;
}

/**
 * The sweeps to order. One sweep takes all money of an asset at an address. None is ordered while money there may still pay its
 * payment, or if all of it is unexpected and below the minimum. Money that paid, or whose return was requested, is swept even
 * below the minimum. Lots that wait for a person stop the sweep, unless together they are below the minimum.
 */
export function chooseSweeps(lots: readonly Lot[], rules: PayoutRules): readonly Sweep[] {
  const groups = Map.groupBy(
    lots.filter(({ waiting }) => waiting > 0n),
    ({ network, asset, address }) => `${network} ${asset} ${address}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || first.address === null) return [];
    const { network, asset, address, commitment } = first;
    const amount = group.reduce((total, { waiting }) => total + waiting, 0n);
    const least = rules.minimum(asset);
    const stopped = group.filter(({ id }) => rules.stopped.has(id)).reduce((total, lot) => total + lot.waiting, 0n);
    const isOpen = group.some(({ isPaying, reason, isScreened }) => !isPaying && reason === null && !isScreened);
    const isNeeded = group.some(({ id, isPaying }) => isPaying || rules.returning.has(id)) || amount >= least;
    return isOpen || !isNeeded || (stopped > 0n && stopped >= least)
      ? []
      : [{ network, asset, address, commitment, amount }];
  });
}

/** The payouts that can begin now. None begins before the payment has ended. */
export function choosePayouts(ending: Ending | undefined, holdings: Holdings, rules: PayoutRules): readonly Payout[] {
  if (ending === undefined) return [];
  const groups = Map.groupBy(
    holdings.held.filter(({ id, remainder }) => remainder > 0n && isFree(id, rules)),
    groupOf,
  );
  return [...groups.values()].flatMap((lots) => {
    const [first] = lots;
    const amount = sum(lots.map(({ remainder }) => remainder));
    const settles = sum(lots.filter(({ isPaying }) => isPaying).map(({ remainder }) => remainder));
    if (first === undefined || (settles === 0n && amount < rules.minimum(first.asset))) return [];
    const { network, asset, account } = first;
    const id = nextPayoutId(first, holdings.spends);
    const spends = lots.map((lot) => spendOf(lot, { order: id, purpose: 'payout', amount: lot.remainder }));
    return [{ id, network, asset, account, amount, settles, spends }];
  });
}

function isFree(id: string, { stopped, returning }: PayoutRules): boolean {
  return !stopped.has(id) && !returning.has(id);
}

/** The id of a payout of a lot. Its last byte is a number, because a lot that grew by dust after its payout needs another payout. */
function payoutIdFrom(lot: string, number: number): string {
  const bytes = Uint8Array.from(hashOf(`payout ${lot}`));
  bytes[bytes.length - 1] = number;
  return markedId('pout_', bytes);
}

/** The part of a payout's id that is computed from its first lot alone. It is stored in `lots.payout_key`. */
export function payoutKeyOf(payout: string): string {
  return Buffer.from(idBytes(payout)).toString('hex').slice(1, -2);
}

export function payoutKeyOfLot(lot: string): string {
  return payoutKeyOf(firstPayoutOf(lot));
}

export function firstPayoutOf(lot: string): string {
  return payoutIdFrom(lot, 0);
}

/** The highest number of a payout of one lot. The number has one byte in the payout's id. */
const MAX_PAYOUTS = 255;

function nextPayoutId({ id }: Lot, spends: readonly Spend[]): string {
  const taken = new Set(spends.map(({ order }) => order));
  for (let number = 0; number <= Math.min(spends.length, MAX_PAYOUTS); number += 1) {
    const next = payoutIdFrom(id, number);
    if (!taken.has(next)) return next;
  }
  throw new RangeError('A lot has too many payouts.');
}

/** The id of a lot of unexpected money, and of the return of this lot. */
export function returnIdFrom(lot: string): string {
  return markedId('stry_', hashOf(`return ${lot}`));
}

function hashOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

/** The cover of a refund or a return. Its parts add up to the amount. */
export type Covered =
  | {
      readonly is: 'covered';
      readonly spends: readonly Spend[];
      readonly merchantFloat: bigint;
      readonly operatorFloat: bigint;
    }
  /** The cover must wait: for a sweep, for a debt to be filled, or for the money that paid to be on chain again. */
  | { readonly is: 'waiting'; readonly for: 'sweep' | 'debt' | 'arrival' };

export interface RefundOrder {
  /** The id from `refundIdOf`, made from the payment and the number of the refund. */
  readonly id: string;
  readonly amount: bigint;
  /** The operator's fee, contained in the amount. It has left our accounts, so a float pays it. */
  readonly fee: bigint;
}

/** The cover of a refund. It takes held lots of the asset that paid, beginning with the lots that paid, and then floats. */
export function coverRefund(
  ending: PaidEnding,
  holdings: Holdings,
  { id, amount, fee }: RefundOrder,
  rules: PayoutRules,
): Covered {
  if (holdings.debts.length > 0) return { is: 'waiting', for: 'debt' };
  const paying = holdings.lots.filter(({ isPaying }) => isPaying);
  // A reorg removed the money that paid. A float must not pay back money that nobody has sent.
  if (paying.reduce((total, each) => total + each.amount, 0n) < ending.amount) return { is: 'waiting', for: 'arrival' };
  if (paying.some(({ isHeld, waiting }) => isHeld && waiting > 0n)) return { is: 'waiting', for: 'sweep' };
  const fit = refundLots(holdings).filter((lot) => isFree(lot.id, rules));
  const spends = take(fit, amount - fee, { order: id, purpose: 'refund' });
  const fromLots = spends.reduce((total, each) => total + each.amount, 0n);
  return { is: 'covered', spends, merchantFloat: amount - fee - fromLots, operatorFloat: fee };
}

/** The cover of the return of a lot of unexpected money. It takes the lot's own units as far as they are held, and floats for the rest. */
export function coverReturn(holdings: Holdings, lot: Lot): Covered {
  if (lot.reason === null) throw new RangeError('Money that paid goes back by a refund, and not by a return.');
  // Debts in another asset or on another network do not concern this money.
  if (holdings.debts.some((debt) => groupOf(debt) === groupOf(lot))) return { is: 'waiting', for: 'debt' };
  // Dust may have joined the lot after its sweep. Such dust must not delay the return of the swept money.
  if (lot.waiting === lot.amount) return { is: 'waiting', for: 'sweep' };
  const own = holdings.held.filter(({ id }) => id === lot.id);
  const spends = take(own, lot.net, { order: returnIdFrom(lot.id), purpose: 'return' });
  const fromLots = spends.reduce((total, each) => total + each.amount, 0n);
  return { is: 'covered', spends, merchantFloat: lot.net - fromLots, operatorFloat: lot.fee };
}

/** The fee of the returned part of a lot that has grown since its return. */
export function feeOfReturned({ amount, fee }: Pick<Lot, 'amount' | 'fee'>, returned: bigint): bigint {
  return feeShare({ fee, of: amount }, 0n, returned);
}

/** The held lots in the asset and on the account of the payment, beginning with the lots that paid. */
function refundLots({ lots, held }: Holdings): HeldLot[] {
  const groups = new Set(lots.filter(({ isPaying }) => isPaying).map(groupOf));
  const fit = held.filter((lot) => groups.has(groupOf(lot)));
  return [...fit.filter(({ isPaying }) => isPaying), ...fit.filter(({ isPaying }) => !isPaying)];
}

/** Spends as much of the lots' remainders as needed, in the order of the lots. */
function take(lots: readonly HeldLot[], units: bigint, about: Pick<Spend, 'order' | 'purpose'>): Spend[] {
  let left = units;
  return lots.flatMap((lot) => {
    const amount = least(lot.remainder, left);
    left -= amount;
    return amount > 0n ? [spendOf(lot, { ...about, amount })] : [];
  });
}

function spendOf(lot: Lot, { order, purpose, amount }: Pick<Spend, 'order' | 'purpose' | 'amount'>): Spend {
  const { id, payment, network, asset, account } = lot;
  return { order, purpose, lot: id, payment, network, asset, account, amount, isDone: false };
}

/** A transfer on chain that an order of ours has made. The subject of its item names the order. */
export interface Carried extends Pick<Sent, 'network' | 'asset' | 'account' | 'amount'> {
  readonly order: string;
}

/**
 * The spends of a payout that is on chain and whose payment is known. They begin with the lot from which the payout's id was
 * computed, and go on in the order of the lots. If an older version computed the id from the payment, they begin with the first
 * lot.
 */
export function spendsOfPayout(holdings: Holdings, { order, network, asset, account, amount }: Carried): Spend[] {
  const fit = holdings.held.filter((lot) => lot.network === network && lot.asset === asset && lot.account === account);
  const start = Math.max(
    0,
    fit.findIndex(({ id }) => isPayoutOf(order, id)),
  );
  return take([...fit.slice(start), ...fit.slice(0, start)], amount, { order, purpose: 'payout' });
}

function isPayoutOf(order: string, lot: string): boolean {
  return payoutKeyOf(order) === payoutKeyOfLot(lot);
}
