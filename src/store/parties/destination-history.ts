import type { Reader, Tx } from '../plumbing/database.ts';

/** The settlement destination that was in force after a change. `destination` is null if an operator has removed an attacker's. */
export interface PastDestination {
  readonly merchantId: string;
  readonly assetKey: string;
  readonly destination: string | null;
  /** The time from which held money could be paid to the destination. Null if the destination is null. */
  readonly heldFrom: Date | null;
}

export interface HistoryRow extends PastDestination {
  /** The number of the change among those of the merchant and the asset. Copies of a row with another MAC key have the same number. */
  readonly number: string;
  /** The MAC that proves that the gateway wrote the row. Empty in rows of an older version. */
  readonly mac: string;
}

/** The history of the settlement destinations of these merchants, the newest change first. */
export function findDestinationHistory(db: Reader, merchantIds: readonly string[]): Promise<HistoryRow[]> {
  return db<HistoryRow[]>`
    select merchant_id as "merchantId", asset_key as "assetKey", number::text as number, destination,
      held_from as "heldFrom", mac
    from destination_history where merchant_id = any(${[...new Set(merchantIds)]}::text[])
    order by destination_history.number desc`;
}

/** A page of the merchants that ever had a settlement destination, ordered by id. */
export async function listMerchantsWithHistory(
  db: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly id: string }[]> {
  return db<{ id: string }[]>`
    select distinct merchant_id as id from destination_history where merchant_id > ${after}
    order by merchant_id limit ${limit}`;
}

export async function insertDestinationHistory(tx: Tx, rows: readonly HistoryRow[], at: Date): Promise<void> {
  await tx`
    insert into destination_history (merchant_id, asset_key, number, destination, held_from, mac, at)
    select "merchantId", "assetKey", number, destination, "heldFrom", mac, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(rows as never)}) as h(
      "merchantId" text, "assetKey" text, number bigint, destination text, "heldFrom" timestamptz, mac text)
    on conflict do nothing`;
}
