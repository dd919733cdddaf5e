export const PAYOUT_STATES = ['held', 'sending', 'paid', 'refunding', 'refunded'] as const;
export type PayoutState = (typeof PAYOUT_STATES)[number];

export const PAYOUT_WAITS = ['unfreeze', 'destination', 'cooling_off', 'retry', 'gateway', 'network'] as const;
export type PayoutWait = (typeof PAYOUT_WAITS)[number];

export interface WaitingPayout {
  readonly state: PayoutState;
  /** True if a freeze or a suspension stops the payout. */
  readonly isStopped: boolean;
  /** True if the merchant has a destination for the asset, other than the account that holds the money. */
  readonly hasDestination: boolean;
  /** Held money is paid to the destination from this time on. */
  readonly heldFrom: Date | null;
  /** The time of the next try, if a transfer failed. */
  readonly retryAt: Date | null;
}

/** The reason why the payout waits, with its end if known. Undefined if the payout is over. */
export function payoutWaitOf(payout: WaitingPayout, now: Date): { what: PayoutWait; until?: Date } | undefined {
  const { state, isStopped, hasDestination, heldFrom, retryAt } = payout;
  if (state === 'paid' || state === 'refunded') return undefined;
  if (isStopped) return { what: 'unfreeze' };
  if (state !== 'held') return { what: 'network' };
  if (!hasDestination) return { what: 'destination' };
  if (heldFrom !== null && heldFrom > now) return { what: 'cooling_off', until: heldFrom };
  if (retryAt !== null && retryAt > now) return { what: 'retry', until: retryAt };
  return { what: 'gateway' };
}
