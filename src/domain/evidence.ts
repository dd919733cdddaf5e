import type { PaymentStatus } from './payment.ts';

/**
 * What a chain has proved about the items of a payment, at final depth. Only this ends a payment that is being paid: no
 * timeout, no error of an endpoint and no simulation does.
 */
export interface ItemFacts {
  readonly isNative: boolean;
  readonly deadlineMs: number;
  /** The time of the final block at which the rest was read. */
  readonly finalAtMs: number;
  /** Whether the authorization is used up at that block. */
  readonly isUsed: boolean;
  /** Whether the Collector ever reported it as paid. */
  readonly isReportedPaid: boolean;
  /** Why the token refused it in a final block and refuses it still; undefined when it did not. */
  readonly refusal: string | undefined;
}

export type ItemFate =
  /** Its event decides. */
  | { readonly is: 'paid' }
  /** Can still be carried out. */
  | { readonly is: 'open' }
  /** The facts contradict each other: somebody lies or lags. */
  | { readonly is: 'unclear' }
  | { readonly is: 'failed'; readonly reason: string }
  | { readonly is: 'ran_out' };

export function fateOf(item: ItemFacts): ItemFate {
  if (item.isReportedPaid) return { is: 'paid' };
  // Nobody but the Collector uses up a native commitment, and it reports every time.
  if (item.isUsed) return item.isNative ? { is: 'unclear' } : { is: 'failed', reason: 'used' };
  if (item.finalAtMs > item.deadlineMs) return { is: 'ran_out' };
  return item.refusal === undefined ? { is: 'open' } : { is: 'failed', reason: item.refusal };
}

export type Conclusion = 'wait' | 'unclear' | 'failed' | 'expired' | 'over_anyway';

/** What follows for a payment from the fates of all its items that were not over. */
export function conclude(status: PaymentStatus, fates: readonly ItemFate[]): Conclusion {
  if (fates.some(({ is }) => is === 'unclear')) return 'unclear';
  if (fates.some(({ is }) => is === 'paid' || is === 'open')) return 'wait';
  if (status !== 'requires_action' && status !== 'processing') return 'over_anyway';
  return fates.some(({ is }) => is === 'failed') ? 'failed' : 'expired';
}

/** Refusals that are about the item itself: repeated at a final block they prove that it cannot be paid. */
const TELLING_REFUSALS: ReadonlySet<string> = new Set([
  'wrong_signature',
  'short_balance',
  'short_allowance',
  'payer_blacklisted',
  'recipient_blacklisted',
]);

/** A pause, a lack of gas or an unknown reason may pass, and proves nothing. */
export function isTelling(refusal: string): boolean {
  return TELLING_REFUSALS.has(refusal);
}

/** What a paid event says, and what its commitment stands for: they can only be the same. */
export interface Paid {
  readonly payer: string;
  readonly asset: string;
  readonly amount: string;
  readonly fee: string;
  readonly recipient: string;
}

/** The names of what differs; addresses are compared as the chain does, without their case. */
export function differences(said: Partial<Paid>, stored: Paid): string[] {
  const fields = ['payer', 'asset', 'amount', 'fee', 'recipient'] as const;
  return fields.filter((field) => said[field]?.toLowerCase() !== stored[field].toLowerCase());
}
