import type { MacFields } from '../../domain/row-mac.ts';
import { ApiError } from '../../errors.ts';
import {
  type CryptoSettlement,
  deleteCryptoSettlement,
  findAssetKey,
  forgetDestination,
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
import { type Pages, renewMacs, within } from '../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../row-keys.ts';
import { rememberChanges, renewHistory } from './destination-memory.ts';

/** Destinations decide where money goes, so each row carries a MAC under a key outside the database. */

const TABLE = 'crypto_settlements';

type Numbered = CryptoSettlement & Pick<StoredDestination, 'number'>;

const { macOf, isOwn: hasOwnMac } = macsOf(TABLE, fieldsOf);

/** Inserts the new rows and returns their ids. If a row exists already, the caller rolls the database transaction back. */
export async function putDestinations(tx: Tx, deps: RowKeyDeps, rows: readonly NewDestination[]): Promise<string[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const numbers = await rememberChanges(tx, deps, rows, first.createdAt);
  const numbered = rows.map((row, index) => ({ ...row, number: numbers[index] ?? null }));
  return insertCryptoSettlements(
    tx,
    numbered.map((row) => ({ ...row, mac: macOf(deps, row) })),
  );
}

/** Writes the terms of a destination that the database transaction has locked. */
export async function writeDestination(tx: Tx, deps: RowKeyDeps, changed: CryptoSettlement, at: Date): Promise<void> {
  const assetKey = await findAssetKey(tx, changed.id);
  const [number = null] = await rememberChanges(tx, deps, [{ ...changed, assetKey }], at);
  await updateDestination(tx, { ...changed, number, mac: macOf(deps, { ...changed, number }) }, at);
}

/**
 * Deletes a destination that the database transaction has locked. The next destination of the asset takes effect after the
 * cooling-off period.
 */
export async function removeDestination(tx: Tx, deps: RowKeyDeps, removed: CryptoSettlement, at: Date): Promise<void> {
  await rememberChanges(tx, deps, [{ ...removed, assetKey: await findAssetKey(tx, removed.id) }], at);
  await deleteCryptoSettlement(tx, { id: removed.id, at });
}

/** Deletes a destination that an attacker has put in force. The next destination counts as the first of the asset. */
export async function eraseDestination(tx: Tx, deps: RowKeyDeps, erased: CryptoSettlement, at: Date): Promise<void> {
  const { id, merchantId } = erased;
  const change = { merchantId, assetKey: await findAssetKey(tx, id), destination: null, heldFrom: null };
  await rememberChanges(tx, deps, [change], at);
  await forgetDestination(tx, id);
}

/** True if the gateway itself wrote this row, and the row is the newest version of the destination. */
export function isOwnDestination(deps: RowKeyDeps, row: StoredDestination): boolean {
  return row.number === row.lastNumber && hasOwnMac(deps, row);
}

/** The alert about a destination that the gateway did not write. */
export function forgedDestination({ id, merchantId, asset, destination }: StoredDestination) {
  const message = `The destination ${destination} of ${merchantId} for ${asset} was not written by the gateway, or was changed. Nothing is paid to it. Find out who has written to the database; the audit log has the right one.`;
  return { name: 'destination_refused', subject: id, message } as const;
}

/** Refuses to change terms that the gateway did not write: the new MAC would make them valid. */
export function refuseForged(deps: RowKeyDeps, row: StoredDestination): void {
  if (isOwnDestination(deps, row)) return;
  throw new ApiError('invalid_state', 'The record of this destination is damaged: the operator has to repair it.');
}

/** The rows that the gateway wrote. Every other row raises an alert. */
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
  return adoptOnce(deps, TABLE, (tx) => renewDestinationMacs(within(tx), deps, () => true));
}

/** Writes the MACs of the history of an older version, and numbers its destinations. */
export function adoptHistory(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return adoptOnce(deps, 'destination_history', async (tx, now) => {
    const rows = await renewHistory(within(tx), deps, { isTrusted: ({ mac }) => mac === '', now });
    await renewDestinationMacs(within(tx), deps, (row) => row.number === null && hasOwnMac(deps, row));
    return rows;
  });
}

export function renewDestinationMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: StoredDestination) => boolean,
): Promise<number> {
  const rows = {
    lock: lockDestinations,
    macOf: (row: StoredDestination) => macOf(deps, { ...row, number: row.lastNumber }),
    write: setDestinationMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

/** The fields that the MAC covers. Rows of an older version have no number. */
function fieldsOf(row: Numbered): MacFields {
  const { id, merchantId, asset, destination, pendingDestination, effectiveAt, heldFrom, number } = row;
  const times = { effectiveAt: effectiveAt?.toISOString() ?? null, heldFrom: heldFrom.toISOString() };
  return { id, merchantId, asset, destination, pendingDestination, ...times, ...(number !== null && { number }) };
}
