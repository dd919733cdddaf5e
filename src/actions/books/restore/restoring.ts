import type { ConnectedChain } from '../../../chains/chains.ts';
import type { Registry } from '../../../chains/registry.ts';
import { paymentIdOf } from '../../../domain/ids.ts';
import { markDecided, putEvents } from '../../../store/chain/chain-events.ts';
import { findPayingItem, type StoredItem } from '../../../store/chain/items.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { takenFor } from '../../../store/money/restored-outgoing.ts';
import { lockPayments, type Payment } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { lackText, type Taking, takeFromFloats } from '../../outgoing/float/take-from-floats.ts';
import { storedEvent } from '../../watch/read-events.ts';
import type { PaidEvent } from '../audit/paid-event.ts';

export type Outcome = 'rebuilt' | 'intact';

/** An event that cannot be restored from the existing rows. The message completes a sentence about the event. */
export class Unplaced extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'Unplaced';
  }
}

/**
 * The problem of an event that names an existing payment and has no seal. Only a seal proves that the gateway wrote an item. Events
 * of the first contract releases have no seal, and anybody can put any payment id into them. So they change no existing payment.
 */
export const NOT_OURS = 'names a payment that is there, by an item without a seal: anybody can have made it';

/** A transfer that has left one of our accounts, or a refund that has left the merchant's own account. */
export interface Left {
  readonly id: string;
  readonly event: PaidEvent;
  readonly before: Outgoing | undefined;
  readonly signer: Outgoing['signer'];
  /** The owner of a returned float if no row shows it. */
  readonly floatOwner: string | undefined;
  readonly connected: ConnectedChain;
  readonly at: Date;
}

/** The owner of the restored money. */
export interface Restored extends Pick<Outgoing, 'merchantId' | 'floatOwner'> {
  /** True if a consequence of the transfer was missing in the database. */
  readonly isChanged: boolean;
  /** The payment of a payout. Undefined for refunds and returns. */
  readonly paymentId?: string;
}

export async function noteEvent(tx: Tx, event: PaidEvent, at: Date): Promise<void> {
  const [network = ''] = event.asset.split('/');
  const stored = storedEvent(event);
  await putEvents(tx, network, [stored], at);
  await markDecided(tx, network, [{ ...stored, problem: null }], at);
}

export function evidenceOf({ commitment, block }: PaidEvent) {
  return { rebuilt: true, commitment, block: block.number };
}

/** The seal of the item, if its contract emits seals. */
export function sealOfEvent({ subject, terms }: PaidEvent): string | null {
  return terms === undefined ? null : subject;
}

/** The payer's account in the form of CAIP-10. */
export function accountOf({ asset, payer }: PaidEvent): string {
  return `${asset.split('/')[0]}:${payer}`;
}

/** The payment that a refund belongs to, and the item by which that payment was paid. */
export async function paymentOf(tx: Tx, id: string): Promise<{ payment: Payment; item: StoredItem }> {
  const [payment] = await lockPayments(tx, [paymentIdOf(id)]);
  const item = payment && (await findPayingItem(tx, payment.id));
  if (payment?.status !== 'succeeded' || item === undefined) {
    throw new Unplaced(`belongs to ${paymentIdOf(id)}, which is not a paid payment here`);
  }
  return { payment, item };
}

/** Takes from each float the units that it must pay for the transfer, minus the units that were taken from it before. */
export async function takeUnpaid(
  tx: Tx,
  registry: Registry,
  { parts, ...taking }: Omit<Taking, 'payer'>,
  at: Date,
): Promise<void> {
  const given = await takenFor(tx, taking.subject);
  const rest = parts.map(({ owner, units }) => ({ owner, units: units - (given.get(owner) ?? 0n) }));
  const taken = await takeFromFloats(tx, { ...taking, parts: rest, payer: null }, at);
  if (taken.ok) return;
  throw new Unplaced(
    `was paid from floats, and here ${lackText(registry, taking.asset, taken.missing)}: see till float add`,
  );
}
