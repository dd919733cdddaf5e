/**
 * The life of a refund. The table has the target state of each event; every transition goes through `decideRefund`, and
 * the update is guarded by the state and version it was decided on.
 */
export const REFUND_TRANSITIONS = {
  requested: { covered: 'sending', short: 'awaiting_funds', screened: 'failed' },
  awaiting_funds: { covered: 'sending', screened: 'failed' },
  sending: { paid: 'refunded', failed: 'failed' },
  // A refund that was never covered begins anew.
  failed: { retried: 'sending', reopened: 'requested' },
  // A reorganisation deeper than final depth took its transaction away, and it ran out before it was mined again.
  refunded: { undone: 'sending' },
} as const satisfies Record<string, Partial<Record<RefundEvent, string>>>;

export type RefundState = keyof typeof REFUND_TRANSITIONS;

/** The events of a refund. */
export type RefundEvent = 'covered' | 'short' | 'screened' | 'paid' | 'failed' | 'retried' | 'reopened' | 'undone';

export const REFUND_STATES = Object.keys(REFUND_TRANSITIONS) as readonly RefundState[];

/** The target state of the event; undefined when it is not allowed in that state. */
export function decideRefund(state: RefundState, event: RefundEvent): RefundState | undefined {
  return (REFUND_TRANSITIONS[state] as Partial<Record<RefundEvent, RefundState>>)[event];
}

/** The event of a retry: `retried` if the cover was kept, `reopened` if there was none. */
export function retryOf(isCovered: boolean): 'retried' | 'reopened' {
  return isCovered ? 'retried' : 'reopened';
}

/** The sources of a refund, in the smallest unit of the paid asset. The three add up to the amount the payer paid. */
export interface Cover {
  /** The payment's own net amount, if it is still on the intermediate account. */
  readonly held: bigint;
  /** The merchant's float. */
  readonly merchant: bigint;
  /** The operator's float. It pays the fee back, because the fee has left the intermediate account. */
  readonly operator: bigint;
}

/** The sources of a refund's money. */
export function coverOf({ amount, fee, isHeld }: { amount: bigint; fee: bigint; isHeld: boolean }): Cover {
  const net = amount - fee;
  return { held: isHeld ? net : 0n, merchant: isHeld ? 0n : net, operator: fee };
}
