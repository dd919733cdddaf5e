import type { EventType } from '../../../domain/event.ts';
import { appendEvents } from '../../../store/events/events.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface LoggedPayout {
  readonly id: string;
  readonly merchantId: string | null;
  readonly network: string;
  readonly asset: string;
  readonly amount: string | bigint;
  readonly recipient: string;
}

export interface PayoutEvent {
  readonly type: Extract<EventType, `payout.${string}`>;
  readonly actor: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** Appends one event to each of these payouts, which this database transaction has locked or inserted. */
export function logPayouts(tx: Tx, payouts: readonly LoggedPayout[], event: PayoutEvent, at: Date): Promise<void> {
  const events = payouts.map(({ id, merchantId, network, asset, amount, recipient }) => {
    if (merchantId === null) throw new Error('A payout has no merchant.');
    return { ...event, objectId: id, merchantId, at, data: { network, asset, amount: amount.toString(), recipient } };
  });
  return appendEvents(tx, events);
}
