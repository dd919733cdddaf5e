import type { DestinationTerms } from '../../domain/cooling-off.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { type Database, one, type Reader, type Tx } from '../plumbing/database.ts';
import { findClosed, isMerchantClosed } from './freezes.ts';
import type { LockedMerchant } from './merchants.ts';

/** A merchant's on-chain destination for one asset. */
export interface CryptoSettlement extends DestinationTerms {
  readonly id: string;
  readonly merchantId: string;
  readonly asset: string;
}

export type NewDestination = CryptoSettlement & { readonly assetKey: string; readonly createdAt: Date };

/** A destination with the MAC that proves that the gateway wrote it. Null in a row that the gateway did not write. */
export interface StoredDestination extends CryptoSettlement {
  readonly mac: string | null;
  /** The change that wrote the row, and the last change in the history. They differ if somebody has restored an older row. */
  readonly number: string | null;
  readonly lastNumber: string | null;
}

/** A bank arrangement, which the operator keeps and the partner can list. */
export interface FiatSettlement {
  readonly id: string;
  readonly merchantId: string;
  readonly status: 'active' | 'inactive';
  readonly bankType: string;
}

export interface Settlements {
  readonly crypto: readonly CryptoSettlement[];
  readonly fiat: readonly FiatSettlement[];
}

export async function listSettlements(db: Reader, merchantId: string): Promise<Settlements> {
  const [crypto, fiat] = await Promise.all([
    db<
      CryptoSettlement[]
    >`select ${cryptoColumns(db)} from crypto_settlements where merchant_id = ${merchantId} order by id`,
    listFiatSettlements(db, { merchantId }),
  ]);
  return { crypto, fiat };
}

/** The destinations of a merchant (CAIP-10) by asset (CAIP-19). */
export type Destinations = ReadonlyMap<string, string>;
export type DestinationReader = (merchantId: string) => Promise<Destinations>;

const MAX_MERCHANTS_PER_READ = 500;

/**
 * Reads destinations without a cache, because money is sent there. Concurrent reads share a statement. A destination whose MAC is
 * wrong counts as none, so payments are held for the merchant.
 */
export function createDestinationReader(
  { world, db }: { world: World; db: Database },
  isGenuine: (row: StoredDestination) => boolean,
): DestinationReader {
  return createBatcher<string, Destinations>(world, {
    run: async (merchantIds) => {
      const rows = (await findDestinations(db.sql, merchantIds)).filter(isGenuine);
      const byMerchant = Map.groupBy(rows, ({ merchantId }) => merchantId);
      return merchantIds.map(
        (id) => new Map(byMerchant.get(id)?.map(({ asset, destination }) => [asset, destination])),
      );
    },
    maxItems: MAX_MERCHANTS_PER_READ,
    maxConcurrent: 2,
    isItemsFault: () => false,
  });
}

function findDestinations(db: Reader, merchantIds: readonly string[]) {
  return db<StoredDestination[]>`
    select ${storedColumns(db)} from crypto_settlements
    where merchant_id = any(${[...new Set(merchantIds)]}::text[])`;
}

export function listFiatSettlements(db: Reader, { merchantId }: { merchantId: string }): Promise<FiatSettlement[]> {
  return db<FiatSettlement[]>`
    select ${fiatColumns(db)} from fiat_settlements where merchant_id = ${merchantId} order by id`;
}

/** Inserts the new destinations and returns their ids. An asset that already has a destination is left out. */
export async function insertCryptoSettlements(
  tx: Tx,
  settlements: readonly (NewDestination & Pick<StoredDestination, 'mac' | 'number'>)[],
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    insert into crypto_settlements (id, merchant_id, asset, asset_key, destination, pending_destination, effective_at,
      held_from, mac, number, created_at, updated_at)
    select id, "merchantId", asset, "assetKey", destination, "pendingDestination", "effectiveAt", "heldFrom", mac, number,
      "createdAt", "createdAt"
    from jsonb_to_recordset(${tx.json(settlements)}) as s(
      id text, "merchantId" text, asset text, "assetKey" text, destination text, "pendingDestination" text,
      "effectiveAt" timestamptz, "heldFrom" timestamptz, mac text, number bigint,
      "createdAt" timestamptz)
    on conflict (merchant_id, asset_key) do nothing
    returning id`;
  return rows.map(({ id }) => id);
}

/**
 * Locks a destination of a locked merchant. A second statement reads the destination: a statement that waited for the lock would
 * see the history as it was before the wait.
 */
export async function lockCryptoSettlement(
  tx: Tx,
  merchant: LockedMerchant,
  id: string,
): Promise<StoredDestination | undefined> {
  await tx`select from crypto_settlements where id = ${id} and merchant_id = ${merchant.id} for update`;
  const [row] = await findDestinationRows(tx, [id]);
  return row?.merchantId === merchant.id ? row : undefined;
}

/** The transaction must have locked the destination. */
export async function updateDestination(
  tx: Tx,
  { id, destination, pendingDestination, effectiveAt, mac, number }: Omit<StoredDestination, 'lastNumber'>,
  at: Date,
): Promise<void> {
  await tx`
    update crypto_settlements
    set destination = ${destination}, pending_destination = ${pendingDestination}, effective_at = ${effectiveAt},
      mac = ${mac}, number = ${number}, updated_at = ${at}
    where id = ${id}`;
}

/** The key of a destination's asset, which is the same for all spellings of the asset. */
export async function findAssetKey(tx: Tx, id: string): Promise<string> {
  return one(await tx<{ key: string }[]>`select asset_key as key from crypto_settlements where id = ${id}`).key;
}

/**
 * Locks destinations whose change has cooled off, the earliest first, after locking their merchants. Rows locked by another
 * transaction are left for the next run. A change waits while its merchant is stopped or deleted, or its partner is disabled.
 * Changes take turns: those after `after` come first, so that changes that nobody ordered delay no other.
 */
export async function lockCooledOff(
  tx: Tx,
  { now, after, limit }: { readonly now: Date; readonly after: CooledTurn | undefined; readonly limit: number },
): Promise<{ readonly rows: readonly StoredDestination[]; readonly last: CooledTurn | undefined }> {
  const { effectiveAt, id } = after ?? BEFORE_ALL;
  const due = await tx<{ id: string; merchantId: string; effectiveAt: string }[]>`
    select id, merchant_id as "merchantId", effective_at::text as "effectiveAt" from crypto_settlements
    where effective_at <= ${now}
      and not exists (select from merchants m where m.id = merchant_id and ${isMerchantClosed(tx)})
    order by (effective_at, id) <= (${effectiveAt}::timestamptz, ${id}), effective_at, id limit ${limit}`;
  const last = due.length < limit ? undefined : due.at(-1);
  if (due.length === 0) return { rows: [], last };
  const merchants = await tx<{ id: string }[]>`
    select id from merchants where id = any(${[...new Set(due.map(({ merchantId }) => merchantId))]}::text[])
    order by id for no key update skip locked`;
  const lockedIds = merchants.map(({ id }) => id);
  // A merchant may have been stopped before its lock.
  const closed = await findClosed(tx, lockedIds);
  const openIds = lockedIds.filter((merchantId) => !closed.has(merchantId));
  const locked = await tx<{ id: string }[]>`
    select id from crypto_settlements
    where id = any(${due.map(({ id }) => id)}::text[]) and merchant_id = any(${openIds}::text[])
      and effective_at <= ${now}
    order by effective_at for update skip locked`;
  const rows = await findDestinationRows(
    tx,
    locked.map(({ id }) => id),
  );
  return { rows, last };
}

/** The last change of a page. Its time has microseconds, so it stays a text. */
export interface CooledTurn {
  readonly effectiveAt: string;
  readonly id: string;
}

const BEFORE_ALL: CooledTurn = { effectiveAt: '-infinity', id: '' };

/** Locks a page of all destinations. Merchants are locked before destinations, so lock no merchant afterwards. */
export async function lockDestinations(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredDestination[]> {
  const locked = await tx<{ id: string }[]>`
    select id from crypto_settlements where id > ${after} order by id limit ${limit} for update`;
  return findDestinationRows(
    tx,
    locked.map(({ id }) => id),
  );
}

export function findDestinationRows(db: Reader, ids: readonly string[]): Promise<StoredDestination[]> {
  return db<StoredDestination[]>`
    select ${storedColumns(db)} from crypto_settlements where id = any(${ids as string[]}::text[]) order by id`;
}

/** Stores MACs together with the number of the last change, which they cover. */
export async function setDestinationMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update crypto_settlements c set mac = m.mac, number = ${lastNumber(tx, tx`c`)}
    from jsonb_to_recordset(${tx.json(rows as never)}) as m(id text, mac text) where c.id = m.id`;
}

/** Changes in their cooling-off period, of all merchants or one merchant, the earliest to take effect first. */
export function listPendingDestinations(
  db: Reader,
  { merchantId, limit }: { readonly merchantId: string | undefined; readonly limit: number },
): Promise<CryptoSettlement[]> {
  return db<CryptoSettlement[]>`
    select ${cryptoColumns(db)} from crypto_settlements
    where effective_at is not null and ${merchantId === undefined ? db`true` : db`merchant_id = ${merchantId}`}
    order by effective_at, id limit ${limit}`;
}

/** Deletes a destination. Nodes of the previous version find it in `removed_destinations`. */
export async function deleteCryptoSettlement(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`
    with removed as (
      delete from crypto_settlements where id = ${id} returning merchant_id, asset_key, destination, held_from
    )
    insert into removed_destinations (merchant_id, asset_key, destination, held_from, removed_at)
    select merchant_id, asset_key, destination, held_from, ${at}::timestamptz from removed
    on conflict (merchant_id, asset_key) do update
    set destination = excluded.destination, held_from = excluded.held_from, removed_at = excluded.removed_at`;
}

/** Deletes a destination, for nodes of the previous version as well. */
export async function forgetDestination(tx: Tx, id: string): Promise<void> {
  await tx`
    with removed as (delete from crypto_settlements where id = ${id} returning merchant_id, asset_key)
    delete from removed_destinations d using removed r
    where d.merchant_id = r.merchant_id and d.asset_key = r.asset_key`;
}

export async function insertFiatSettlement(tx: Tx, settlement: FiatSettlement & { createdAt: Date }): Promise<void> {
  await tx`
    insert into fiat_settlements (id, merchant_id, status, bank_type, created_at)
    values (${settlement.id}, ${settlement.merchantId}, ${settlement.status}, ${settlement.bankType}, ${settlement.createdAt})`;
}

export async function findFiatSettlement(db: Reader, id: string): Promise<FiatSettlement | undefined> {
  const [row] = await db<FiatSettlement[]>`select ${fiatColumns(db)} from fiat_settlements where id = ${id}`;
  return row;
}

/** Returns the deleted record. Undefined if there is none. */
export async function deleteFiatSettlement(tx: Tx, id: string): Promise<FiatSettlement | undefined> {
  const [row] = await tx<FiatSettlement[]>`
    delete from fiat_settlements where id = ${id} returning ${fiatColumns(tx)}`;
  return row;
}

function fiatColumns(db: Reader) {
  return db`id, merchant_id as "merchantId", status, bank_type as "bankType"`;
}

function cryptoColumns(db: Reader) {
  return db`id, merchant_id as "merchantId", asset, destination, pending_destination as "pendingDestination",
    effective_at as "effectiveAt", held_from as "heldFrom"`;
}

function storedColumns(db: Reader) {
  return db`${cryptoColumns(db)}, mac, number::text as number,
    ${lastNumber(db, db`crypto_settlements`)}::text as "lastNumber"`;
}

/** The number of the last change of the settlement `of`. */
export function lastNumber(db: Reader, of: ReturnType<Reader>) {
  return db`(
    select max(h.number) from destination_history h
    where h.merchant_id = ${of}.merchant_id and h.asset_key = ${of}.asset_key)`;
}
