/**
 * The terms of a settlement destination: the account that receives a merchant's money in one asset. A change of the destination
 * waits for the cooling-off period, so that a stolen key cannot redirect money at once.
 */
export interface DestinationTerms {
  /** The destination in force, in CAIP-10. */
  readonly destination: string;
  /** The destination that replaces `destination` at `effectiveAt`, in CAIP-10. */
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
 * The terms of a new destination. A merchant's first destination for an asset receives new payments at once. Money that is
 * already held for the merchant goes there only after the cooling-off period. A destination that is added after a removal counts
 * as a change; otherwise a removal would avoid the period.
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

/**
 * The terms after a requested change. A request for the destination in force withdraws the pending one. A repeated request does
 * not restart the period.
 */
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
