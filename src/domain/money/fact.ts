import type { Collected, Mined, Moment, Movement, Swept } from './movement.ts';
import { itemOf, type Known, knownKey, ownerOf, type Part, placeOf } from './owner.ts';

/** The meaning of a transaction for its owners. The folds of payments take these facts, in the order of their moments. */
export type Fact = Arrived | Paid | Moved;

interface FactBase extends Moment {
  readonly transaction: string;
  readonly commitment: string;
  readonly asset: string;
  readonly amount: bigint;
}

/** Money has come to a deposit address. */
export interface Arrived extends FactBase {
  readonly is: 'arrived';
  readonly address: string;
  readonly sender: string;
  /** The verdict about the sender. It is a stored fact, and the same whenever it is read. */
  readonly isScreened: boolean;
}

/** An item of a payment was carried out: its net amount is with the recipient, its fee with the fee account. */
export interface Paid extends FactBase {
  readonly is: 'collected';
  readonly fee: bigint;
}

/** Money at a deposit address went to the recipient and the fee account. The amount contains the fee. */
export interface Moved extends FactBase {
  readonly is: 'swept';
  readonly address: string;
  readonly fee: bigint;
}

/** An order of ours (payout, refund, return) took money from an account of ours. */
export interface Sent extends FactBase {
  readonly is: 'sent';
  readonly account: string;
}

/** Money at an account of ours that belongs to no payment. */
interface Loose extends Moment {
  readonly transaction: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: bigint;
}

/** Money that nobody owns. It may be given to a float, once: the id is the claim. Negative if it left without an order. */
export interface Unowned extends Loose {
  readonly id: string;
}

export interface Reading {
  readonly facts: readonly Fact[];
  readonly sent: readonly Sent[];
  readonly unowned: readonly Unowned[];
  /** Fees that came to an account of ours. They are the operator's. */
  readonly fees: readonly Loose[];
  /** Transfers between accounts of ours, which change the owner of nothing. Negative at the end that they left. */
  readonly own: readonly Loose[];
}

/** Reads one transaction. `isScreened` is the stored verdict about a sender. */
export function readMined(
  mined: Mined,
  known: Known,
  isScreened: (network: string, sender: string) => boolean,
): Reading {
  const facts: Fact[] = [];
  const [sent, unowned, fees, own]: [Sent[], Unowned[], Loose[], Loose[]] = [[], [], [], []];
  const sweeps = new Map<Swept, { amount: bigint; fee: bigint }>();
  const paidOut = new Set<Collected>();
  for (const leg of mined.legs) {
    const { from, to } = ownerOf(leg, mined, known);
    for (const part of from) {
      if (part.owner.is === 'deposit') addToSweep(sweeps, sweepAfter(leg, mined), part);
      if (part.owner.is === 'own') own.push(looseOf(leg, leg.from, -part.amount));
      if (part.owner.is !== 'item') continue;
      sent.push({ is: 'sent', ...whereOf(leg, part.owner.commitment), account: leg.from, amount: part.amount });
    }
    for (const part of to) {
      if (part.owner.is === 'own') own.push(looseOf(leg, leg.to, part.amount));
      if (part.isFee && part.owner.is !== 'nobody' && leg.toPlace !== 'deposit') {
        fees.push(looseOf(leg, leg.to, part.amount));
      }
      const item = part.owner.is === 'item' && !part.isFee ? itemOf(leg, mined) : undefined;
      if (item !== undefined) paidOut.add(item);
      if (part.owner.is !== 'deposit' || leg.toPlace !== 'deposit') continue;
      const sender = senderOf(leg, mined);
      const place = { address: leg.to, sender, isScreened: isScreened(leg.network, sender) };
      facts.push({ is: 'arrived', ...whereOf(leg, part.owner.commitment), amount: part.amount, ...place });
    }
    unowned.push(...unownedOf(leg, mined, from, 'from'), ...unownedOf(leg, mined, to, 'to'));
  }
  for (const event of mined.events) {
    const swept = event.event === 'swept' ? sweeps.get(event) : undefined;
    if (event.event === 'swept' && swept !== undefined) {
      facts.push({ is: 'swept', ...whereOf(event, event.commitment), address: event.address, ...swept });
    }
    if (event.event === 'collected' && isPaymentItem(event, paidOut, known)) {
      facts.push({ is: 'collected', ...whereOf(event, event.commitment), amount: event.amount, fee: event.fee });
    }
  }
  return { facts, sent, unowned, fees, own };
}

function looseOf({ network, blockTimeS, block, index, transaction, asset }: Movement, account: string, amount: bigint) {
  return { network, blockTimeS, block, index, transaction, asset, account, amount };
}

function whereOf({ network, blockTimeS, block, index, transaction, asset }: Movement | Swept | Collected, id: string) {
  return { network, blockTimeS, block, index, transaction, asset, commitment: id };
}

function sweepAfter({ from, asset, index }: Movement, { events }: Mined): Swept | undefined {
  return events.find(
    (event): event is Swept =>
      event.event === 'swept' && event.address === from && event.asset === asset && event.index > index,
  );
}

function addToSweep(
  sweeps: Map<Swept, { amount: bigint; fee: bigint }>,
  sweep: Swept | undefined,
  { amount, isFee }: { amount: bigint; isFee: boolean },
): void {
  if (sweep === undefined) return;
  const sum = sweeps.get(sweep) ?? { amount: 0n, fee: 0n };
  sweeps.set(sweep, { amount: sum.amount + amount, fee: sum.fee + (isFee ? amount : 0n) });
}

/**
 * An item pays a payment if the gateway wrote it and an outside account paid it. If its money went to a place of ours, the
 * leg must be there: an event alone proves nothing. An item that was paid straight to a merchant has no leg here.
 */
function isPaymentItem(event: Collected, paidOut: ReadonlySet<Collected>, known: Known): boolean {
  if (!known.items.has(knownKey(event.network, event.commitment)) || placeOf(known, event.payer) !== null) return false;
  return placeOf(known, event.recipient) === null || paidOut.has(event);
}

/** The sender of a transfer by the Collector is the payer of its item. */
function senderOf(leg: Movement, { events }: Mined): string {
  const item = events.find(
    (event): event is Collected =>
      event.event === 'collected' &&
      event.collector === leg.from &&
      event.recipient === leg.to &&
      event.asset === leg.asset &&
      event.index >= leg.index,
  );
  return item?.payer ?? leg.from;
}

function unownedOf(leg: Movement, { legs }: Mined, parts: readonly Part[], end: 'from' | 'to'): Unowned[] {
  const account = leg[end];
  return parts.flatMap(({ owner, amount }, part) => {
    if (owner.is !== 'nobody' || amount === 0n) return [];
    // The number within the transaction is the same if the transaction is mined in another block.
    const isBefore = (each: Movement) => each.index < leg.index && each[end] === account && each.asset === leg.asset;
    const nth = legs.filter(isBefore).length;
    const id = `${leg.network}/${leg.transaction}/${account}/${leg.asset}/${end}/${nth}.${part}`;
    return [{ id, ...looseOf(leg, account, end === 'to' ? amount : -amount) }];
  });
}
