import type { DestinationTerms } from '../../domain/cooling-off.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import type { World } from '../../runtime/world.ts';
import { type Database, one, type Reader, type Tx } from '../plumbing/database.ts';
import { isMerchantClosed } from './freezes.ts';
import type { LockedMerchant } from './merchants.ts';

/** The destination of a merchant for one asset, on chain. */
export interface CryptoSettlement extends DestinationTerms {
  readonly id: string;
  readonly merchantId: string;
  readonly asset: string;
}

export type NewDestination = CryptoSettlement & { readonly assetKey: string; readonly createdAt: Date };

/** A destination with the proof that the gateway wrote it. Null in a row that it did not write. */
export interface StoredDestination extends CryptoSettlement {
  readonly mac: string | null;
  /** The change that wrote the row, and the last change of all. They differ if somebody has put an older row back. */
  readonly number: string | null;
  readonly lastNumber: string | null;
}

/** A bank arrangement, kept by the operator and listed to the partner. */
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
 * Reads destinations as they are this moment, because money is sent there; reads asked for together share a statement. A
 * destination that is not genuine is none: payments are held for the merchant.
 */
export function createDestinationReader(
  { world, db }: { world: World; db: Database },
  isGenuine: (row: StoredDestination) => boolean,
): DestinationReader {
  return createBatcher<string, Destinations>(world.timers, {
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

/** Inserts all that are new and returns their ids: fewer than given means that some asset was registered already. */
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
 * Locks a destination of a locked merchant. It is read by the next statement: a statement that waited for the lock would see
 * the history as it was before the wait.
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

/** Writes the terms of a destination that the transaction has locked. */
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

/** The key of a destination's asset, by which spellings of the asset are the same. */
export async function findAssetKey(tx: Tx, id: string): Promise<string> {
  return one(await tx<{ key: string }[]>`select asset_key as key from crypto_settlements where id = ${id}`).key;
}

/**
 * Locks destinations whose change has cooled off, the oldest first, after their merchants. Rows that another transaction has
 * locked are left for the next time. A change of a merchant that is stopped or deleted,
 * or whose partner is disabled, waits.
 */
export async function lockCooledOff(
  tx: Tx,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<StoredDestination[]> {
  const due = await tx<{ id: string; merchantId: string }[]>`
    select id, merchant_id as "merchantId" from crypto_settlements
    where effective_at <= ${now}
      and not exists (select from merchants m where m.id = merchant_id and ${isMerchantClosed(tx)})
    order by effective_at limit ${limit}`;
  if (due.length === 0) return [];
  const merchants = await tx<{ id: string }[]>`
    select id from merchants where id = any(${[...new Set(due.map(({ merchantId }) => merchantId))]}::text[])
    order by id for no key update skip locked`;
  const locked = await tx<{ id: string }[]>`
    select id from crypto_settlements
    where id = any(${due.map(({ id }) => id)}::text[]) and merchant_id = any(${merchants.map(({ id }) => id)}::text[])
      and effective_at <= ${now}
    order by effective_at for update skip locked`;
  return findDestinationRows(
    tx,
    locked.map(({ id }) => id),
  );
}

/** A page of all destinations, by id. The caller locks no merchant afterwards. */
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

/** Stores MACs over the number of the last change. */
export async function setDestinationMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update crypto_settlements c set mac = m.mac, number = ${lastNumber(tx, tx`c`)}
    from jsonb_to_recordset(${tx.json(rows as never)}) as m(id text, mac text) where c.id = m.id`;
}

/** Changes that cool off, of all merchants or one; the first to apply first. */
export function listPendingDestinations(
  db: Reader,
  { merchantId, limit }: { readonly merchantId: string | undefined; readonly limit: number },
): Promise<CryptoSettlement[]> {
  return db<CryptoSettlement[]>`
    select ${cryptoColumns(db)} from crypto_settlements
    where effective_at is not null and ${merchantId === undefined ? db`true` : db`merchant_id = ${merchantId}`}
    order by effective_at, id limit ${limit}`;
}

/** Deletes a destination. Nodes of the version before find it in `removed_destinations`. */
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

/** Deletes a destination. Nodes of the version before find none. */
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

/** The record that was removed; undefined if there is none. */
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
