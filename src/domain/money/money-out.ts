import { createHash } from 'node:crypto';
import { idBytes, markedId } from '../ids.ts';
import type { Sent } from './fact.ts';
import { groupOf, type HeldLot, type Holdings, holdingsOf, least, type Spend } from './holding.ts';
import type { Ending, Lot, PaidEnding } from './terms.ts';

/** Money out spends lots, each unit once. Ids follow from lots, so a restored database makes the same orders. */

/** A payout of held lots of one payment, network, asset and account. */
export interface Payout {
  readonly id: string;
  readonly network: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: bigint;
  /** The part that settles the payment. The rest is unexpected money that goes the same way. */
  readonly settles: bigint;
  readonly spends: readonly Spend[];
}

export interface PayoutRules {
  /** Lots that wait for a person: of listed senders. */
  readonly stopped: ReadonlySet<string>;
  /** Lots whose return was asked for. They are swept, and not paid out. */
  readonly returning: ReadonlySet<string>;
  /** The least amount of unexpected money that is worth a transfer. Money that paid the payment always moves on. */
  minimum(asset: string): bigint;
}

/** A deposit address that is swept now. The contract takes everything that lies there in the asset. */
export interface Sweep {
  readonly network: string;
  readonly asset: string;
  readonly address: string;
  readonly commitment: string;
  readonly amount: bigint;
}

/**
 * The sweeps to order. Money that may still pay its payment stays where it is, and so does unexpected money of too little
 * worth. Money that paid always moves on, and so does money whose return was asked for. A lot that waits for a person stops its address, unless the amount is dust.
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

/** All payouts that can begin now. There is none before the payment has ended. */
export function choosePayouts(ending: Ending | undefined, holdings: Holdings, rules: PayoutRules): readonly Payout[] {
  if (ending === undefined) return [];
  const groups = Map.groupBy(
    holdings.held.filter(({ id, remainder }) => remainder > 0n && isFree(id, rules)),
    groupOf,
  );
  return [...groups.values()].flatMap((lots) => {
    const [first] = lots;
    const amount = sum(lots);
    const settles = sum(lots.filter(({ isPaying }) => isPaying));
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

/** A lot that grew by dust after its payout begins another one, so the number is a part of the id: its last byte. */
function payoutIdFrom(lot: string, number: number): string {
  const bytes = Uint8Array.from(hashOf(`payout ${lot}`));
  bytes[bytes.length - 1] = number;
  return markedId('pout_', bytes);
}

/** The part of the id of a payout that follows from its first lot alone. `lots.payout_key` has it. */
export function payoutKeyOf(payout: string): string {
  return Buffer.from(idBytes(payout)).toString('hex').slice(1, -2);
}

/** The same for a lot. */
export function payoutKeyOfLot(lot: string): string {
  return payoutKeyOf(firstPayoutOf(lot));
}

/** The id of the first payout that begins with the lot. */
export function firstPayoutOf(lot: string): string {
  return payoutIdFrom(lot, 0);
}

/** A byte has the number. */
const MAX_PAYOUTS = 255;

function nextPayoutId({ id }: Lot, spends: readonly Spend[]): string {
  const taken = new Set(spends.map(({ order }) => order));
  for (let number = 0; number <= Math.min(spends.length, MAX_PAYOUTS); number += 1) {
    const next = payoutIdFrom(id, number);
    if (!taken.has(next)) return next;
  }
  throw new RangeError('A lot has too many payouts.');
}

/** The id of unexpected money, and of its return. */
export function returnIdFrom(lot: string): string {
  return markedId('stry_', hashOf(`return ${lot}`));
}

function hashOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest().subarray(0, 16);
}

/** The cover of a refund or a return. All parts together are the amount. */
export type Covered =
  | {
      readonly is: 'covered';
      readonly spends: readonly Spend[];
      readonly merchantFloat: bigint;
      readonly operatorFloat: bigint;
    }
  /** It can be covered later: after the sweep, when the debt is filled, or when the money that paid is on the chain again. */
  | { readonly is: 'waiting'; readonly for: 'sweep' | 'debt' | 'arrival' };

export interface RefundOrder {
  /** As decision 31 derives it: from the payment and the number of the refund. */
  readonly id: string;
  readonly amount: bigint;
  /** The operator's part of it. It has left our accounts, so a float pays it. */
  readonly fee: bigint;
}

/** A refund spends held lots of the asset that paid, those that paid first, and then floats. */
export function coverRefund(
  ending: PaidEnding,
  holdings: Holdings,
  { id, amount, fee }: RefundOrder,
  rules: PayoutRules,
): Covered {
  if (holdings.debts.length > 0) return { is: 'waiting', for: 'debt' };
  const paying = holdings.lots.filter(({ isPaying }) => isPaying);
  // A reorg took the money that paid. A float must not pay money back that nobody has sent.
  if (paying.reduce((total, each) => total + each.amount, 0n) < ending.amount) return { is: 'waiting', for: 'arrival' };
  if (paying.some(({ isHeld, waiting }) => isHeld && waiting > 0n)) return { is: 'waiting', for: 'sweep' };
  const fit = refundLots(holdings).filter((lot) => isFree(lot.id, rules));
  const spends = take(fit, amount - fee, { order: id, purpose: 'refund' });
  const fromLots = spends.reduce((total, each) => total + each.amount, 0n);
  return { is: 'covered', spends, merchantFloat: amount - fee - fromLots, operatorFloat: fee };
}

/** A return gives a lot of unexpected money back: its own units while they are held, and floats for the rest. */
export function coverReturn(holdings: Holdings, lot: Lot): Covered {
  if (lot.reason === null) throw new RangeError('Money that paid goes back by a refund, and not by a return.');
  // A debt in another asset, or on another network, has nothing to do with this money.
  if (holdings.debts.some((debt) => groupOf(debt) === groupOf(lot))) return { is: 'waiting', for: 'debt' };
  // Dust may have joined the lot after its sweep. It must not hold up the return of the rest.
  if (lot.waiting === lot.amount) return { is: 'waiting', for: 'sweep' };
  const own = holdings.held.filter(({ id }) => id === lot.id);
  const spends = take(own, lot.net, { order: returnIdFrom(lot.id), purpose: 'return' });
  const fromLots = spends.reduce((total, each) => total + each.amount, 0n);
  return { is: 'covered', spends, merchantFloat: lot.net - fromLots, operatorFloat: lot.fee };
}

/** The held lots that lie where the payment was paid, in its asset: those that paid first. */
function refundLots({ lots, held }: Holdings): HeldLot[] {
  const groups = new Set(lots.filter(({ isPaying }) => isPaying).map(groupOf));
  const fit = held.filter((lot) => groups.has(groupOf(lot)));
  return [...fit.filter(({ isPaying }) => isPaying), ...fit.filter(({ isPaying }) => !isPaying)];
}

/** Takes as much of the remainders as needed, in the order of the lots. */
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

function sum(lots: readonly HeldLot[]): bigint {
  return lots.reduce((total, { remainder }) => total + remainder, 0n);
}

/** A transfer that an order of ours has made, as the chain shows it. The subject of its item gives the order. */
export interface Carried extends Pick<Sent, 'network' | 'asset' | 'account' | 'amount'> {
  readonly order: string;
  /** The operator's part of a refund, as the payment's terms give it. A float paid it. */
  readonly fee: bigint;
}

/**
 * The spends behind transfers that are on the chain, for a database that has lost its orders. The transfers are in the order of the
 * chain. A payout begins with the lot in its id and goes on in the order of the lots; a return has its own lot; a refund has
 * the lots that paid first. Units that no lot covers came from floats, or are a debt if they were paid out.
 */
export function recoverSpends(lots: readonly Lot[], carried: readonly Carried[]): readonly Spend[] {
  let spends: Spend[] = [];
  const returns = new Map(lots.map((lot) => [returnIdFrom(lot.id), lot.id]));
  const ofReturn = carried.filter(({ order }) => returns.has(order));
  for (const each of [...ofReturn, ...carried.filter((one) => !ofReturn.includes(one))]) {
    spends = [...spends, ...recoverOne(holdingsOf(lots, spends), each, returns.get(each.order))];
  }
  return spends;
}

function recoverOne(holdings: Holdings, carried: Carried, returned: string | undefined): Spend[] {
  const { order, network, asset, account, amount, fee } = carried;
  const fit = holdings.held.filter((lot) => lot.network === network && lot.asset === asset && lot.account === account);
  const done = (found: Spend[]) => found.map((spend) => ({ ...spend, isDone: true }));
  if (returned !== undefined) {
    const own = fit.filter(({ id }) => id === returned);
    // The operator's float gave the fee back. Dust may have joined the lot since.
    const units = amount - own.reduce((sum, lot) => sum + lot.fee, 0n);
    return done(take(own, units, { order, purpose: 'return' }));
  }
  if (!order.startsWith('pout_')) {
    // Lots of another asset paid none of it, whatever the order was.
    const same = refundLots(holdings).filter((lot) => fit.includes(lot));
    return done(take(same, amount - fee, { order, purpose: 'refund' }));
  }
  const start = fit.findIndex(({ id }) => isPayoutOf(order, id));
  if (start === -1) return [];
  return done(recoverPayout(fit, start, { order, amount }));
}

/**
 * The spends of a payout that is on the chain, if its payment is known. The ids of older versions follow from the payment: then
 * the first lot begins.
 */
export function spendsOfPayout(holdings: Holdings, carried: Omit<Carried, 'fee'>): Spend[] {
  const { order, network, asset, account } = carried;
  const fit = holdings.held.filter((lot) => lot.network === network && lot.asset === asset && lot.account === account);
  const start = fit.findIndex(({ id }) => isPayoutOf(order, id));
  return recoverPayout(fit, start === -1 ? 0 : start, carried);
}

function recoverPayout(fit: readonly HeldLot[], start: number, { order, amount }: Pick<Carried, 'order' | 'amount'>) {
  const first = fit[start];
  if (first === undefined) return [];
  const found = take([...fit.slice(start), ...fit.slice(0, start)], amount, { order, purpose: 'payout' });
  const missing = amount - found.reduce((total, each) => total + each.amount, 0n);
  const over = missing > 0n ? [spendOf(first, { order, purpose: 'payout', amount: missing })] : [];
  return [...found, ...over];
}

function isPayoutOf(order: string, lot: string): boolean {
  return payoutKeyOf(order) === payoutKeyOfLot(lot);
}
