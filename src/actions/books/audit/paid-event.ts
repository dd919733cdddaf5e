import type { ChainEvent } from '../../../chains/chain.ts';
import { subjectFromBytes } from '../../../domain/ids.ts';

/** The Collector's report that an item was carried out. */
export type PaidEvent = Extract<ChainEvent, { type: 'paid' }>;

/** The subject of an event: its 16 bytes are the id of a payment, payout, refund or return. */
export function subjectOfEvent({ subject }: { readonly subject: string }): string {
  return subjectFromBytes(Buffer.from(subject.replace(/^0x/, ''), 'hex'));
}

/** True if two addresses are the same account. */
export function isSame(account: string, other: string): boolean {
  return account.toLowerCase() === other.toLowerCase();
}
