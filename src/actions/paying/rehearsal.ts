import type { PayMethod } from '../../domain/item.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Screening } from '../../screening/screening.ts';
import type { Payment } from '../../store/payments/payments.ts';

/**
 * The outcomes that a payment in a sandbox can request by `metadata.sandbox`. A rehearsal only prepares the conditions: the payment then
 * goes through the same steps as any other.
 */
export interface Rehearsal {
  /** Describes the rule that the metadata of a new payment breaks. Undefined if it breaks none. */
  problemOf(mode: Mode, metadata: Readonly<Record<string, string>>): string | undefined;
  scriptOf(payment: Payment): Promise<Script>;
  /** The screening list for a refund of the payment, in place of the operator's. Undefined if the payment requests none. */
  refundScreening(mode: Mode, paymentId: string): Promise<Screening | undefined>;
}

/** The steps in which a rehearsed payment differs from a usual one. */
export interface Script {
  /** The screening that is used instead of the operator's list. */
  readonly screening?: Screening;
  /** The payment methods whose assets are offered. Undefined for all. */
  readonly methods?: readonly PayMethod[];
  /** The time that must pass before an accepted signature is sent. */
  readonly holdMs?: number;
  /** Runs after an action in native coin was stored, and before the wallet gets it. */
  readonly onFetched?: () => Promise<unknown>;
  /** Runs before a confirmation is accepted. */
  readonly onConfirm?: () => Promise<unknown>;
}

const NOTHING: Script = {};

/** The rehearsal outside a sandbox, where metadata selects no simulated outcome. */
export const NO_REHEARSAL: Rehearsal = {
  problemOf: () => undefined,
  scriptOf: async () => NOTHING,
  refundScreening: async () => undefined,
};
