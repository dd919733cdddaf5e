import type { Fact, Sent } from '../../src/domain/money/fact.ts';
import type { Collected, Mined, Moment, Movement, PlaceKind, Swept } from '../../src/domain/money/movement.ts';
import { itemOf, type Known, knownKey, ownerOf, type Part } from '../../src/domain/money/owner.ts';

/**
 * Reads whole transactions of the toy chains. The gateway itself makes facts of stored movements (`read-position.ts`) and asks
 * `ownerOf` about money without a payment (`record-unexpected-transfers.ts`).
 */

/** Null if the address is not ours. */
export function placeOf({ deposits, accounts }: Known, address: string): PlaceKind | null {
  return deposits.has(address) ? 'deposit' : (accounts.get(address) ?? null);
}

/** Money at an account of ours that belongs to no payment. */
interface Loose extends Moment {
  readonly transaction: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: bigint;
}

/**
 * Money without an owner. An operator may assign it to a float, once: the claim is stored under the id. Negative if the money
 * left without an order of ours.
 */
export interface Unowned extends Loose {
  readonly id: string;
}

export interface Reading {
  readonly facts: readonly Fact[];
  readonly sent: readonly Sent[];
  readonly unowned: readonly Unowned[];
  /** Fees that came to an account of ours. They belong to the operator. */
  readonly fees: readonly Loose[];
  /** Transfers between accounts of ours, which change no owner. Negative for the account that sent the money. */
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
      facts.push({
        is: 'arrived',
        ...whereOf(leg, part.owner.commitment),
        amount: part.amount,
        first: part.amount,
        ...place,
      });
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
 * An item pays a payment if the gateway wrote the item and an outside account paid it. If the money went to a place of ours,
 * the transfer must be among the legs too: an event alone proves nothing. A payment straight to a merchant has no leg here.
 */
function isPaymentItem(event: Collected, paidOut: ReadonlySet<Collected>, known: Known): boolean {
  if (!known.items.has(knownKey(event.network, event.commitment)) || placeOf(known, event.payer) !== null) return false;
  return placeOf(known, event.recipient) === null || paidOut.has(event);
}

/** The Collector forwards the money of a payer, so the sender of its transfer is the payer of the item. */
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
    // Counted within the transaction, so that the id stays the same if a reorg moves the transaction to another block.
    const isBefore = (each: Movement) => each.index < leg.index && each[end] === account && each.asset === leg.asset;
    const nth = legs.filter(isBefore).length;
    const id = `${leg.network}/${leg.transaction}/${account}/${leg.asset}/${end}/${nth}.${part}`;
    return [{ id, ...looseOf(leg, account, end === 'to' ? amount : -amount) }];
  });
}
