import { isRowMac, type MacFields, macOfRow } from '../../domain/row-mac.ts';
import { ApiError } from '../../errors.ts';
import {
  type CryptoSettlement,
  insertCryptoSettlements,
  lockDestinations,
  type NewDestination,
  type StoredDestination,
  setDestinationMacs,
  updateDestination,
} from '../../store/parties/destinations.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { adoptOnce } from '../adopt-once.ts';
import type { CommandDeps } from '../command.ts';
import { renewMacs } from '../renew-macs.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/** Rows of destinations decide where money goes, so each carries a MAC under a key outside the database. */

const TABLE = 'crypto_settlements';

/** Inserts all that are new and returns their ids. */
export function putDestinations(tx: Tx, deps: RowKeyDeps, rows: readonly NewDestination[]): Promise<string[]> {
  return insertCryptoSettlements(
    tx,
    rows.map((row) => ({ ...row, mac: macOf(deps, row) })),
  );
}

/** Writes the terms of a destination that the transaction has locked. */
export function writeDestination(tx: Tx, deps: RowKeyDeps, changed: CryptoSettlement, at: Date): Promise<void> {
  return updateDestination(tx, { ...changed, mac: macOf(deps, changed) }, at);
}

/** True if the gateway wrote exactly these terms. */
export function isOwnDestination({ rowKeys }: RowKeyDeps, row: StoredDestination): boolean {
  return isRowMac(rowKeys, TABLE, fieldsOf(row), row.mac);
}

/** The alert about a destination that the gateway did not write. */
export function forgedDestination({ id, merchantId, asset, destination }: StoredDestination) {
  const message = `The destination ${destination} of ${merchantId} for ${asset} was not written by the gateway, or was changed. Nothing is paid to it. Find out who has written to the database; the audit log has the right one.`;
  return { name: 'destination_refused', subject: id, message } as const;
}

/** Refuses to go on from terms that the gateway did not write: the next MAC would make them its own. */
export function refuseForged(deps: RowKeyDeps, row: StoredDestination): void {
  if (isOwnDestination(deps, row)) return;
  throw new ApiError('invalid_state', 'The record of this destination is damaged: the operator has to repair it.');
}

/** The rows that the gateway wrote. The others raise an alert. */
export async function ownDestinations<T extends { readonly settlement: StoredDestination }>(
  tx: Tx,
  deps: RowKeyDeps,
  rows: readonly T[],
  at: Date,
): Promise<readonly T[]> {
  const forged = rows.filter(({ settlement }) => !isOwnDestination(deps, settlement));
  const alerts = new Map(forged.map(({ settlement }) => [settlement.id, forgedDestination(settlement)]));
  for (const alert of alerts.values()) await upsertAlert(tx, { ...alert, lastSeen: at });
  return rows.filter((row) => !forged.includes(row));
}

export function adoptDestinations(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return adoptOnce(deps, TABLE, (tx) => renewDestinationMacs(tx, deps, () => true));
}

/** Writes MACs under the newest key. Returns their number. */
export function renewDestinationMacs(
  tx: Tx,
  deps: RowKeyDeps,
  isTrusted: (row: StoredDestination) => boolean,
): Promise<number> {
  const rows = {
    lock: (page: { after: string; limit: number }) => lockDestinations(tx, page),
    macOf: (row: StoredDestination) => macOf(deps, row),
    write: (macs: readonly { id: string; mac: string }[]) => setDestinationMacs(tx, macs),
  };
  return renewMacs(rows, isTrusted);
}

function macOf({ rowKeys }: RowKeyDeps, row: CryptoSettlement): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(row));
}

function fieldsOf(row: CryptoSettlement): MacFields {
  const { id, merchantId, asset, destination, pendingDestination, effectiveAt, heldFrom } = row;
  const times = { effectiveAt: effectiveAt?.toISOString() ?? null, heldFrom: heldFrom.toISOString() };
  return { id, merchantId, asset, destination, pendingDestination, ...times };
}
