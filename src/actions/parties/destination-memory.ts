import type { MacFields } from '../../domain/row-mac.ts';
import {
  findDestinationHistory,
  type HistoryRow,
  insertDestinationHistory,
  listMerchantsWithHistory,
  type PastDestination,
} from '../../store/parties/destination-history.ts';
import type { Reader, Tx } from '../../store/plumbing/database.ts';
import { eachPage, type Pages } from '../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../row-keys.ts';

/**
 * The history of settlement destinations. A new destination cools off if the merchant ever had another one for the asset, no matter how
 * that one was removed. Rows without a valid MAC, which somebody else has added, are ignored.
 */

const { withMac, isOwn } = macsOf('destination_history', fieldsOf);
export const isOwnHistory = isOwn;

/** The destination that the merchant used last in each asset, even if it was removed. Rows without a valid MAC are ignored. */
export async function lastDestinations(
  db: Reader,
  deps: RowKeyDeps,
  merchantId: string,
): Promise<ReadonlyMap<string, { readonly destination: string; readonly heldFrom: Date }>> {
  const own = (await findDestinationHistory(db, [merchantId])).filter((row) => isOwnHistory(deps, row));
  const newest = Map.groupBy(own, ({ assetKey }) => assetKey);
  return new Map(
    [...newest].flatMap(([assetKey, [last]]) => {
      const { destination = null, heldFrom = null } = last ?? {};
      return destination === null || heldFrom === null ? [] : [[assetKey, { destination, heldFrom }] as const];
    }),
  );
}

/** Appends changes to the history, and returns the number of each new row. The caller has locked the merchants or the rows. */
export async function rememberChanges(
  tx: Tx,
  deps: RowKeyDeps,
  changes: readonly PastDestination[],
  at: Date,
): Promise<readonly string[]> {
  const merchantIds = changes.map(({ merchantId }) => merchantId);
  const last = Map.groupBy(await findDestinationHistory(tx, merchantIds), pairOf);
  const rows = changes.map((change) => {
    const number = BigInt(last.get(pairOf(change))?.[0]?.number ?? 0) + 1n;
    return withMac(deps, { ...change, number: number.toString() });
  });
  await insertDestinationHistory(tx, rows, at);
  return rows.map(({ number }) => number);
}

/** Appends a copy of the last trusted row of each merchant and asset, under the newest key. Returns the number of copies. */
export function renewHistory(
  pages: Pages,
  deps: RowKeyDeps,
  { isTrusted, now }: { readonly isTrusted: (row: HistoryRow) => boolean; readonly now: Date },
): Promise<number> {
  return eachPage(pages, listMerchantsWithHistory, async (tx, merchants) => {
    const merchantIds = merchants.map(({ id }) => id);
    const known = await findDestinationHistory(tx, merchantIds);
    const last = [...Map.groupBy(known.filter(isTrusted), pairOf).values()].flatMap(([row]) => row ?? []);
    const copies = last.map((row) => withMac(deps, row));
    if (copies.length > 0) await insertDestinationHistory(tx, copies, now);
    return copies.length;
  });
}

function pairOf({ merchantId, assetKey }: Pick<PastDestination, 'merchantId' | 'assetKey'>): string {
  return `${merchantId} ${assetKey}`;
}

function fieldsOf({ merchantId, assetKey, number, destination, heldFrom }: Omit<HistoryRow, 'mac'>): MacFields {
  return { merchantId, assetKey, number, destination, heldFrom: heldFrom?.toISOString() ?? null };
}
