import type { DestinationTerms } from '../../domain/cooling-off.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { type Database, one, type Reader, type Tx } from '../plumbing/database.ts';
import { findClosed, isMerchantClosed } from './freezes.ts';
import type { LockedMerchant } from './merchants.ts';

/** The account on chain where a merchant is paid in one asset, with its pending change if there is one. */
export interface CryptoSettlement extends DestinationTerms {
  readonly id: string;
  readonly merchantId: string;
  readonly asset: string;
}

export type NewDestination = CryptoSettlement & { readonly assetKey: string; readonly createdAt: Date };

/** A settlement destination with the MAC that proves that the gateway wrote it. The MAC is null in a row that the gateway did not write. */
export interface StoredDestination extends CryptoSettlement {
  readonly mac: string | null;
  /**
   * The number of the change that wrote the row. `lastNumber` is that of the last change in the history. They differ if somebody has
   * restored an older row.
   */
  readonly number: string | null;
  readonly lastNumber: string | null;
}

/** An arrangement to pay a merchant by bank, which the operator records and the partner can list. */
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

/** The settlement destinations of a merchant (CAIP-10) by asset (CAIP-19). */
export type Destinations = ReadonlyMap<string, string>;
export type DestinationReader = (merchantId: string) => Promise<Destinations>;

const MAX_MERCHANTS_PER_READ = 500;

/**
 * Reads settlement destinations for payments. They are not cached, because money is sent there. Concurrent reads share a statement. A
 * destination whose MAC is wrong is left out, so that money is held for the merchant and not sent there.
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

/** Inserts settlement destinations and returns their ids. A destination is left out if the merchant already has one for the asset. */
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
 * Locks a settlement destination, after its merchant was locked. A second statement reads the destination. A single statement would wait
 * for the lock, and then see the history as it was before it waited.
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

/** Stores changes of a settlement destination. The database transaction must have locked the destination before. */
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

/** The key of the asset of a settlement destination. All spellings of an asset have the same key. */
export async function findAssetKey(tx: Tx, id: string): Promise<string> {
  return one(await tx<{ key: string }[]>`select asset_key as key from crypto_settlements where id = ${id}`).key;
}

/**
 * Locks settlement destinations whose pending change has cooled off, the earliest change first. Their merchants are locked before. Rows
 * that another database transaction has locked are left for the next run. A change waits while its merchant is stopped or deleted, or its
 * partner is disabled. Changes take turns: those after `after` come first. Otherwise changes whose MAC is wrong would be read in every run,
 * and delay the others.
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
  // A merchant may have been stopped between the first statement and its lock.
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

/** The sort key of the last change that a page has read. Its time has microseconds, which a `Date` would lose, so it stays a text. */
export interface CooledTurn {
  readonly effectiveAt: string;
  readonly id: string;
}

const BEFORE_ALL: CooledTurn = { effectiveAt: '-infinity', id: '' };

/**
 * Locks a page of all settlement destinations. Merchants must be locked before destinations, so the caller must lock no merchant
 * afterwards.
 */
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

/** Stores new MACs of settlement destinations. A MAC covers the number of the last change, which is therefore stored with it. */
export async function setDestinationMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update crypto_settlements c set mac = m.mac, number = ${lastNumber(tx, tx`c`)}
    from jsonb_to_recordset(${tx.json(rows as never)}) as m(id text, mac text) where c.id = m.id`;
}

/** Settlement destinations with a change in its cooling-off period, of all merchants or of one, the earliest to take effect first. */
export function listPendingDestinations(
  db: Reader,
  { merchantId, limit }: { readonly merchantId: string | undefined; readonly limit: number },
): Promise<CryptoSettlement[]> {
  return db<CryptoSettlement[]>`
    select ${cryptoColumns(db)} from crypto_settlements
    where effective_at is not null and ${merchantId === undefined ? db`true` : db`merchant_id = ${merchantId}`}
    order by effective_at, id limit ${limit}`;
}

/** Deletes a settlement destination, and stores it in `removed_destinations`, where nodes of the previous version look for it. */
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

/** Deletes a settlement destination, also from `removed_destinations`, which nodes of the previous version read. */
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

/** Deletes a bank arrangement and returns the deleted record. Undefined if there is none. */
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

/** The SQL number of the last change of the settlement destination `of`. */
export function lastNumber(db: Reader, of: ReturnType<Reader>) {
  return db`(
    select max(h.number) from destination_history h
    where h.merchant_id = ${of}.merchant_id and h.asset_key = ${of}.asset_key)`;
}
