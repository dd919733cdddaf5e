/**
 * The terms of a settlement destination: where a merchant is paid in one asset. A change waits for the cooling-off period, so
 * that a stolen key redirects nothing at once.
 */
export interface DestinationTerms {
  /** In force, CAIP-10. */
  readonly destination: string;
  /** Takes its place at `effectiveAt`. */
  readonly pendingDestination: string | null;
  readonly effectiveAt: Date | null;
  /** Held money goes to the destination from then on. */
  readonly heldFrom: Date;
}

export interface CoolingOff {
  readonly now: Date;
  readonly periodMs: number;
}

/**
 * The terms of a new destination. The first one of a merchant and asset takes new payments at once and held money after the
 * period. A successor of a removed destination is a change of it.
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

/** The terms after a change. Asking for the destination in force withdraws a pending one. Asking twice starts no new period. */
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
