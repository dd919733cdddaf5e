import type { Collected, Mined, Moment, Movement, Swept } from './movement.ts';
import { type Known, knownKey, type Owner, ownerOf, placeOf } from './owner.ts';

/** What a transaction means for its owners. The folds of payments take these facts, in the order of their moments. */
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

/** Money at an account of ours that nobody owns. It may be given to a float, once: the id is the claim. */
export interface Unowned extends Moment {
  readonly id: string;
  readonly transaction: string;
  readonly asset: string;
  readonly account: string;
  /** Negative for a departure that nobody ordered. */
  readonly amount: bigint;
}

export interface Reading {
  readonly facts: readonly Fact[];
  readonly sent: readonly Sent[];
  readonly unowned: readonly Unowned[];
}

/** Reads one transaction. `isScreened` is the stored verdict about a sender. */
export function readMined(
  mined: Mined,
  known: Known,
  isScreened: (network: string, sender: string) => boolean,
): Reading {
  const facts: Fact[] = [];
  const sent: Sent[] = [];
  const unowned: Unowned[] = [];
  const sweeps = new Map<Swept, { amount: bigint; fee: bigint }>();
  for (const leg of mined.legs) {
    const { from, to } = ownerOf(leg, mined, known);
    for (const part of from) {
      if (part.owner.is === 'deposit') addToSweep(sweeps, sweepAfter(leg, mined), part);
      if (part.owner.is === 'item') {
        sent.push({ is: 'sent', ...whereOf(leg, part.owner.commitment), account: leg.from, amount: part.amount });
      }
    }
    for (const part of to) {
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
    if (event.event === 'collected' && isPaymentItem(event, mined, known)) {
      facts.push({ is: 'collected', ...whereOf(event, event.commitment), amount: event.amount, fee: event.fee });
    }
  }
  return { facts, sent, unowned };
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
function isPaymentItem(event: Collected, mined: Mined, known: Known): boolean {
  if (!known.items.has(knownKey(event.network, event.commitment)) || placeOf(known, event.payer) !== null) return false;
  if (placeOf(known, event.recipient) === null) return true;
  return mined.legs.some((leg) => {
    const { to } = ownerOf(leg, mined, known);
    return leg.index <= event.index && to.some(({ owner, isFee }) => !isFee && isSameItem(owner, event));
  });
}

function isSameItem(owner: Owner, { network, commitment }: Collected): boolean {
  return owner.is === 'item' && owner.network === network && owner.commitment === commitment;
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

function unownedOf(
  leg: Movement,
  { legs }: Mined,
  parts: readonly { readonly owner: Owner; readonly amount: bigint }[],
  end: 'from' | 'to',
): Unowned[] {
  const { network, blockTimeS, block, index, transaction, asset } = leg;
  const account = leg[end];
  return parts.flatMap(({ owner, amount }, part) => {
    if (owner.is !== 'nobody' || amount === 0n) return [];
    // The number within the transaction is the same if the transaction is mined in another block.
    const nth = legs.filter((each) => each.index < index && each[end] === account && each.asset === asset).length;
    const id = `${network}/${transaction}/${account}/${asset}/${end}/${nth}.${part}`;
    const units = end === 'to' ? amount : -amount;
    return [{ id, network, blockTimeS, block, index, transaction, asset, account, amount: units }];
  });
}
