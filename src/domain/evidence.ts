import { addressKey } from './addresses/families.ts';
import type { PaymentStatus } from './payment.ts';

/**
 * Facts about an item of a payment, read from the chain at final depth. Only these facts end an attempt to pay. A timeout, an
 * error of an endpoint, a simulation or a refusal does not end it: a payer without funds may get some before the deadline, and
 * anybody who has seen a signature can still carry out the item after a refusal.
 */
export interface ItemFacts {
  readonly isNative: boolean;
  readonly deadlineMs: number;
  /** The time of the final block at which the other facts were read. */
  readonly finalAtMs: number;
  /** True if the authorization is used at the final block. */
  readonly isUsed: boolean;
  /** True if the Collector ever reported the item as paid. */
  readonly isReportedPaid: boolean;
}

export type ItemFate =
  /** The Collector has reported the item as paid. That event decides about the payment. */
  | { readonly is: 'paid' }
  /** The item can still be carried out. */
  | { readonly is: 'open' }
  /** The facts contradict each other: an endpoint lies or lags. */
  | { readonly is: 'unclear' }
  /** The item can never be carried out: its deadline has passed, or its nonce was used for something else. */
  | { readonly is: 'over'; readonly reason: 'ran_out' | 'used' };

export function fateOf(item: ItemFacts): ItemFate {
  if (item.isReportedPaid) return { is: 'paid' };
  // Only the Collector can use the commitment of an item in native coin, and it always emits an event. A use without an event is
  // a contradiction.
  if (item.isUsed) return item.isNative ? { is: 'unclear' } : { is: 'over', reason: 'used' };
  return item.finalAtMs > item.deadlineMs ? { is: 'over', reason: 'ran_out' } : { is: 'open' };
}

/**
 * The result for a payment. over: no attempt is open any more. over_anyway: no attempt is open, and the payment had already ended
 * before.
 */
export type Conclusion = 'wait' | 'unclear' | 'over' | 'over_anyway';

export function conclude(status: PaymentStatus, fates: readonly ItemFate[]): Conclusion {
  if (fates.some(({ is }) => is === 'unclear')) return 'unclear';
  if (fates.some(({ is }) => is === 'paid' || is === 'open')) return 'wait';
  return status === 'requires_action' || status === 'processing' ? 'over' : 'over_anyway';
}

/**
 * Refusals that would happen again if the payer signed another item with the same terms. A paused token and missing gas are not
 * in this list, because both may change.
 */
const LASTING_REFUSALS: ReadonlySet<string> = new Set([
  'wrong_signature',
  'short_balance',
  'short_allowance',
  'payer_blacklisted',
  'recipient_blacklisted',
]);

export function isLasting(refusal: string): boolean {
  return LASTING_REFUSALS.has(refusal);
}

/** The fields that must be equal in a paid event and in its item. */
export interface Paid {
  readonly payer: string;
  readonly asset: string;
  readonly amount: string;
  readonly fee: string;
  readonly recipient: string;
}

/** The names of the fields that differ. Addresses are compared by the rules of their chain. */
export function differences(shown: Partial<Paid>, stored: Paid): string[] {
  const fields = ['payer', 'asset', 'amount', 'fee', 'recipient'] as const;
  const keyOf = (value: string) => addressKey(stored.asset, value);
  return fields.filter((field) => {
    const value = shown[field];
    return value === undefined || keyOf(value) !== keyOf(stored[field]);
  });
}
