/**
 * The terms of a settlement destination: the account that receives a merchant's money in one asset. A change waits for the
 * cooling-off period, so that a stolen key cannot redirect money at once.
 */
export interface DestinationTerms {
  /** CAIP-10. The destination in force. */
  readonly destination: string;
  /** CAIP-10. Replaces `destination` at `effectiveAt`. */
  readonly pendingDestination: string | null;
  readonly effectiveAt: Date | null;
  /** Money on the intermediate account is paid to the destination from this time on. */
  readonly heldFrom: Date;
}

export interface CoolingOff {
  readonly now: Date;
  readonly periodMs: number;
}

/**
 * A merchant's first destination for an asset receives new payments at once, and money that is already held for the merchant only
 * after the cooling-off period. A destination that is added after a removal counts as a change. Otherwise a removal would avoid the
 * period.
 */
export function termsOfNew(
  destination: string,
  removed: Pick<DestinationTerms, 'destination' | 'heldFrom'> | undefined,
  { now, periodMs }: CoolingOff,
): DestinationTerms {
  if (removed !== undefined) {
    return termsAfterChange({ ...removed, ...NOTHING_PENDING }, destination, { now, periodMs });
  }
  return { destination, ...NOTHING_PENDING, heldFrom: new Date(now.getTime() + periodMs) };
}

/** A request for the destination in force withdraws the pending one. A repeated request does not restart the period. */
export function termsAfterChange(
  current: DestinationTerms,
  destination: string,
  { now, periodMs }: CoolingOff,
): DestinationTerms {
  if (destination === current.destination) return { ...current, ...NOTHING_PENDING };
  if (periodMs === 0) return { ...current, ...NOTHING_PENDING, destination };
  if (destination === current.pendingDestination) return current;
  return { ...current, pendingDestination: destination, effectiveAt: new Date(now.getTime() + periodMs) };
}

const NOTHING_PENDING = { pendingDestination: null, effectiveAt: null } as const;
