import { appendEvents } from '../../store/events/events.ts';
import type { CryptoSettlement, FiatSettlement } from '../../store/parties/destinations.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** Appends an event to destinations that this transaction has added, changed or removed. */
export function logDestinations(
  tx: Tx,
  destinations: readonly (CryptoSettlement | FiatSettlement)[],
  { actor, at, isRemoved = false }: { readonly actor: string; readonly at: Date; readonly isRemoved?: boolean },
): Promise<void> {
  const type = 'settlement_destination.changed';
  const events = destinations.map((settlement) => {
    const { id: objectId, merchantId } = settlement;
    const terms =
      'asset' in settlement
        ? { asset: settlement.asset, destination: settlement.destination }
        : { status: settlement.status, bankType: settlement.bankType };
    return { type, objectId, merchantId, at, actor, data: { ...terms, isRemoved } } as const;
  });
  return appendEvents(tx, events);
}
