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
import { appendAudit, findAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/** Rows of destinations decide where money goes, so each carries a MAC under a key outside the database. */

const TABLE = 'crypto_settlements';
const ADOPTED = { action: 'rows.adopted', subject: TABLE } as const;
const PAGE = 1_000;

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

/** Gives the destinations of an older version their MACs, once in the life of a database: see `adoptOutgoing`. */
export function adoptDestinations(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return command(deps, async (tx, now) => {
    await lockName(tx, `${ADOPTED.action} ${TABLE}`);
    if (await findAudit(tx, ADOPTED)) return;
    const rows = await renewDestinationMacs(tx, deps, () => true);
    await appendAudit(tx, { ...ADOPTED, at: now, actor: 'gateway', detail: { rows } });
  });
}

/** Writes MACs under the newest key. Returns their number. */
export async function renewDestinationMacs(
  tx: Tx,
  deps: RowKeyDeps,
  isTrusted: (row: StoredDestination) => boolean,
): Promise<number> {
  let after = '';
  let renewed = 0;
  for (;;) {
    const page = await lockDestinations(tx, { after, limit: PAGE });
    const trusted = page.filter(isTrusted);
    if (trusted.length > 0)
      await setDestinationMacs(
        tx,
        trusted.map((row) => ({ id: row.id, mac: macOf(deps, row) })),
      );
    renewed += trusted.length;
    if (page.length < PAGE) return renewed;
    after = page.at(-1)?.id ?? after;
  }
}

function macOf({ rowKeys }: RowKeyDeps, row: CryptoSettlement): string {
  return macOfRow(rowKeys, TABLE, fieldsOf(row));
}

function fieldsOf(row: CryptoSettlement): MacFields {
  const { id, merchantId, asset, destination, pendingDestination, effectiveAt, heldFrom } = row;
  const times = { effectiveAt: effectiveAt?.toISOString() ?? null, heldFrom: heldFrom.toISOString() };
  return { id, merchantId, asset, destination, pendingDestination, ...times };
}
