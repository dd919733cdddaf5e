import type { PayMethod } from '../../domain/item.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Screening } from '../../screening/screening.ts';
import type { Payment } from '../../store/payments/payments.ts';

/**
 * The outcomes that payments of a sandbox ask for in `metadata.sandbox`. A rehearsal only sets the scene: the payment then
 * goes through the same steps as any other one.
 */
export interface Rehearsal {
  /** The rule that the metadata of a new payment breaks. */
  problemOf(mode: Mode, metadata: Readonly<Record<string, string>>): string | undefined;
  scriptOf(payment: Payment): Promise<Script>;
  /** The list for a refund of the payment, in place of the operator's. Undefined if the payment asks for none. */
  refundScreening(mode: Mode, paymentId: string): Promise<Screening | undefined>;
}

/** The differences of one payment from a usual one. */
export interface Script {
  /** In place of the operator's list. */
  readonly screening?: Screening;
  /** Only assets that are paid in these ways are offered. */
  readonly methods?: readonly PayMethod[];
  /** An accepted signature is not sent before this time has passed. */
  readonly holdMs?: number;
  /** Runs before a native action is handed out, after it was stored. */
  readonly onFetched?: () => Promise<unknown>;
  /** Runs before a confirmation is accepted. */
  readonly onConfirm?: () => Promise<unknown>;
}

const NOTHING: Script = {};

/** For gateways outside a sandbox: metadata is the merchant's own, and no payment is different. */
export const NO_REHEARSAL: Rehearsal = {
  problemOf: () => undefined,
  scriptOf: async () => NOTHING,
  refundScreening: async () => undefined,
};
