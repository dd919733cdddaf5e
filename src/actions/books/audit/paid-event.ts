import type { ChainEvent } from '../../../chains/chain.ts';
import { idFromBytes } from '../../../domain/ids.ts';

/** The Collector's report that an item was carried out. */
export type PaidEvent = Extract<ChainEvent, { type: 'paid' }>;

/** Id prefixes by the first four bits of an id on chain. A payment has zeros there. */
const PREFIXES = ['pay_', 'pout_', 'rfnd_', 'stry_', 'flot_'] as const;

/** The subject of an event: its 16 bytes are the id of a payment, payout, refund or return. */
export function subjectOfEvent({ subject }: { readonly subject: string }): string {
  const bytes = Buffer.from(subject.replace(/^0x/, ''), 'hex');
  return idFromBytes(PREFIXES[(bytes[0] ?? 0) >> 4] ?? 'pay_', bytes);
}

/** True if two addresses are the same account. */
export function isSame(account: string, other: string): boolean {
  return account.toLowerCase() === other.toLowerCase();
}
