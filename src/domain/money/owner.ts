import { sum } from '../money.ts';
import type { Collected, Mined, MoneyEvent, Movement, PlaceKind, Swept } from './movement.ts';

/** The owner of one end of a movement, or of a part of it. */
export type Owner =
  /** An item that the gateway has written, for a payment or for an order (payout, refund, return). */
  | { readonly is: 'item'; readonly network: string; readonly commitment: string }
  /** A deposit address. The money may have come on any network and in any token. */
  | { readonly is: 'deposit'; readonly network: string; readonly commitment: string }
  /** A transfer between our own accounts, which is never an arrival. */
  | { readonly is: 'own' }
  | { readonly is: 'nobody' };

/** A part of a leg that belongs to one owner. */
export interface Part {
  readonly owner: Owner;
  readonly amount: bigint;
  readonly isFee: boolean;
}

/** The parts of a movement at each end that is a place of ours. The parts of one end add up to the amount of the movement. */
export interface Ends {
  readonly from: readonly Part[];
  readonly to: readonly Part[];
}

/** The facts that decide about owners: every item, deposit address and account that the gateway ever wrote or used. */
export interface Known {
  /** The commitments of all items that the gateway wrote, by `knownKey`. */
  readonly items: Pick<ReadonlySet<string>, 'has'>;
  /** The commitments of payouts, refunds and returns, by which money leaves our accounts. */
  readonly orders: Pick<ReadonlySet<string>, 'has'>;
  /** The commitment of each deposit address. The address is the same on all networks. */
  readonly deposits: ReadonlyMap<string, string>;
  /** All accounts of the gateway by address, with their roles. Former accounts are among them. */
  readonly accounts: ReadonlyMap<string, Exclude<PlaceKind, 'deposit'>>;
}

export function knownKey(network: string, commitment: string): string {
  return `${network} ${commitment}`;
}

const NOBODY: Owner = { is: 'nobody' };
const OWN: Owner = { is: 'own' };

/**
 * The owners of a movement, computed from the events of its own transaction on chain and from the known items and addresses. No
 * other code decides this: neither the watcher nor a rebuild nor `float add`. A transfer from a place to itself has no parts,
 * because it moves nothing. A transfer of zero has no parts either, because anybody can make one from any account.
 */
export function ownerOf(leg: Movement, mined: Mined, known: Known): Ends {
  if (leg.from === leg.to || leg.amount === 0n) return { from: [], to: [] };
  const explained = partsOf(leg, mined, known);
  return {
    from: leg.fromPlace === null ? [] : fromParts(leg, explained),
    to: leg.toPlace === null ? [] : toParts(leg, explained, known),
  };
}

function fromParts(leg: Movement, explained: readonly Part[] | undefined): readonly Part[] {
  if (explained !== undefined) return explained;
  const isBetweenAccounts = leg.fromPlace !== 'deposit' && leg.toPlace !== null && leg.toPlace !== 'deposit';
  return [wholeOf(leg, isBetweenAccounts ? OWN : NOBODY)];
}

/**
 * The owners at the receiving end. Money that arrives at a deposit address belongs to the address, even if the Collector or an
 * account of ours sent it.
 */
function toParts(leg: Movement, explained: readonly Part[] | undefined, known: Known): readonly Part[] {
  const commitment = known.deposits.get(leg.to);
  if (commitment !== undefined) return [wholeOf(leg, { is: 'deposit', network: leg.network, commitment })];
  // An order takes its money out of the books. If the recipient is an account of ours, the money comes in again, without an owner.
  if (explained !== undefined)
    return explained.map((part) => (isOrdered(part, known) ? { ...part, owner: NOBODY } : part));
  return [wholeOf(leg, leg.fromPlace === 'intermediate' || leg.fromPlace === 'relayer' ? OWN : NOBODY)];
}

function isOrdered({ owner }: Part, { orders }: Known): boolean {
  return owner.is === 'item' && orders.has(knownKey(owner.network, owner.commitment));
}

function wholeOf({ amount }: Movement, owner: Owner): Part {
  return { owner, amount, isFee: false };
}

/** The parts of a leg according to the events of its transaction. Undefined if no event explains the leg. */
function partsOf(leg: Movement, mined: Mined, known: Known): readonly Part[] | undefined {
  if (leg.fromPlace === 'deposit') {
    const sweep = sweepOf(leg, mined);
    if (sweep === undefined) return undefined;
    const owner = { is: 'deposit', network: leg.network, commitment: sweep.commitment } as const;
    return [{ owner, amount: leg.amount, isFee: isFeeLeg(leg, sweep, mined) }];
  }
  const item = itemOf(leg, mined);
  if (item !== undefined) return [{ owner: ownerOfItem(item, known), amount: leg.amount, isFee: false }];
  const batch = batchOf(leg, mined);
  if (batch === undefined) return undefined;
  const fees = batch.map((each) => ({ owner: ownerOfItem(each, known), amount: each.fee, isFee: true }));
  const rest = leg.amount - sumOfFees(batch);
  return rest === 0n ? fees : [...fees, { owner: NOBODY, amount: rest, isFee: true }];
}

/** The units that arrived without an owner. */
export function unownedUnits({ to }: Ends): bigint {
  return to.reduce((sum, { owner, amount }) => (owner.is === 'nobody' ? sum + amount : sum), 0n);
}

function sumOfFees(batch: readonly Collected[]): bigint {
  return sum(batch.map(({ fee }) => fee));
}

/**
 * The owner of an item's money. Only a known commitment proves that the gateway wrote the item, because a stranger's item can
 * name any subject.
 */
function ownerOfItem({ network, commitment }: Collected, { items }: Known): Owner {
  return items.has(knownKey(network, commitment)) ? { is: 'item', network, commitment } : NOBODY;
}

/** The sweep that explains a leg from a deposit address: the next sweep of this address and asset in the transaction. */
function sweepOf(leg: Movement, { events }: Mined): Swept | undefined {
  const next = events.find((event): event is Swept => isSweepOf(event, leg) && event.index > leg.index);
  return next !== undefined && (leg.to === next.recipient || leg.to === next.feeAccount) ? next : undefined;
}

function isSweepOf(event: MoneyEvent, { from, asset }: Movement): event is Swept {
  return event.event === 'swept' && event.address === from && event.asset === asset;
}

/**
 * True if the leg pays the fee of a sweep. The contract sends the fee first, so if fee account and recipient are the same, the
 * last leg is the net amount.
 */
function isFeeLeg(leg: Movement, sweep: Swept, { legs }: Mined): boolean {
  if (leg.to !== sweep.feeAccount || sweep.fee === 0n) return false;
  if (sweep.feeAccount !== sweep.recipient) return true;
  const own = legs.filter((each) => each.from === leg.from && each.asset === leg.asset && each.index < sweep.index);
  return sweep.fee === sweep.amount || own.at(-1) !== leg;
}

/** The item whose money the leg pulled or paid out. Only the last fitting leg before the event counts. */
export function itemOf(leg: Movement, { legs, events }: Mined): Collected | undefined {
  const item = events.find(
    (event): event is Collected =>
      event.event === 'collected' &&
      event.asset === leg.asset &&
      event.index >= leg.index &&
      (leg.from === event.collector || leg.to === event.collector || isLegOf(leg, event)),
  );
  if (item === undefined || !isLegOf(leg, item)) return undefined;
  const isLast = legs.every(
    (each) => each.index <= leg.index || each.index > item.index || each.from !== leg.from || !isLegOf(each, item),
  );
  return isLast ? item : undefined;
}

function isLegOf({ from, to, amount, asset }: Movement, item: Collected): boolean {
  if (asset !== item.asset) return false;
  const isPull = from === item.payer && to === item.collector && amount === item.amount;
  // Without a fee, Permit2 transfers the money from the payer directly to the recipient.
  const isDirect = from === item.payer && to === item.recipient && item.fee === 0n && amount === item.amount;
  return isPull || isDirect || (from === item.collector && to === item.recipient && amount === item.amount - item.fee);
}

/**
 * The items whose fees a leg pays together: all items of the Collector since its previous fee leg. Undefined if there are none,
 * or if their fees exceed the leg. Their fees may be less than the leg.
 */
function batchOf(leg: Movement, mined: Mined): readonly Collected[] | undefined {
  const before = mined.legs.filter(
    (each) =>
      each.index < leg.index &&
      each.from === leg.from &&
      each.to === leg.to &&
      each.asset === leg.asset &&
      itemOf(each, mined) === undefined,
  );
  const since = before.at(-1)?.index ?? -1;
  const batch = mined.events.filter(
    (event): event is Collected =>
      event.event === 'collected' &&
      event.collector === leg.from &&
      event.feeAccount === leg.to &&
      event.asset === leg.asset &&
      event.fee > 0n &&
      event.index < leg.index &&
      event.index > since,
  );
  return batch.length > 0 && sumOfFees(batch) <= leg.amount ? batch : undefined;
}
