import { appendEvents } from '../../store/events/events.ts';
import type { CryptoSettlement, FiatSettlement } from '../../store/parties/destinations.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** Appends an event to destinations that the database transaction has locked or added. Its type is `changed` by default. */
export function logDestinations(
  tx: Tx,
  destinations: readonly (CryptoSettlement | FiatSettlement)[],
  { type: kind = 'changed', actor, at, isRemoved = false }: DestinationLog,
): Promise<void> {
  const type = `settlement_destination.${kind}` as const;
  const events = destinations.map((settlement) => {
    const { id: objectId, merchantId } = settlement;
    const terms =
      'asset' in settlement
        ? { asset: settlement.asset, destination: settlement.destination, ...pendingOf(settlement) }
        : { status: settlement.status, bankType: settlement.bankType };
    return { type, objectId, merchantId, at, actor, data: { ...terms, isRemoved } } as const;
  });
  return appendEvents(tx, events);
}

interface DestinationLog {
  readonly type?: 'pending' | 'changed' | 'vetoed';
  readonly actor: string;
  readonly at: Date;
  readonly isRemoved?: boolean;
}

function pendingOf({ pendingDestination, effectiveAt }: CryptoSettlement) {
  return effectiveAt === null ? {} : { pendingDestination, effectiveAt };
}
