import type { PayMethod } from '../../domain/item.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Screening } from '../../screening/screening.ts';
import type { Payment } from '../../store/payments/payments.ts';

/**
 * The outcomes that payments of a sandbox request in `metadata.sandbox`. A rehearsal only prepares the conditions: the payment then
 * goes through the same steps as any other.
 */
export interface Rehearsal {
  /** Describes the rule that the metadata of a new payment breaks. */
  problemOf(mode: Mode, metadata: Readonly<Record<string, string>>): string | undefined;
  scriptOf(payment: Payment): Promise<Script>;
  /** The screening list for a refund of the payment, in place of the operator's. Undefined if the payment requests none. */
  refundScreening(mode: Mode, paymentId: string): Promise<Screening | undefined>;
}

/** The steps in which a rehearsed payment differs from a usual one. */
export interface Script {
  /** The screening that is used instead of the operator's list. */
  readonly screening?: Screening;
  /** Only assets with these payment methods are offered. */
  readonly methods?: readonly PayMethod[];
  /** An accepted signature is not sent before this time has passed. */
  readonly holdMs?: number;
  /** Runs after a native action was stored, and before it is answered. */
  readonly onFetched?: () => Promise<unknown>;
  /** Runs before a confirmation is accepted. */
  readonly onConfirm?: () => Promise<unknown>;
}

const NOTHING: Script = {};

/** Used outside a sandbox, where metadata selects no simulated outcome. */
export const NO_REHEARSAL: Rehearsal = {
  problemOf: () => undefined,
  scriptOf: async () => NOTHING,
  refundScreening: async () => undefined,
};
