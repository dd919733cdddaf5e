import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import type { DatedFeeTerms } from '../../domain/fees.ts';
import type { MerchantStatus } from '../../domain/merchant.ts';
import type { Mode } from '../../domain/mode.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import { isMerchantClosed } from './freezes.ts';

export interface Merchant {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly name: string;
  readonly email: string | null;
  readonly status: MerchantStatus;
  readonly iconUrl: string | null;
  /** The assets that the merchant accepts. An asset must be in the partner's list, too. */
  readonly acceptedAssets: AcceptedAssets;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
}

/** A merchant with its fees and the facts that payers see. */
export interface PayableMerchant extends Merchant {
  /** The hash of the uploaded logo. Without one, the hash of the copy from `iconUrl`. */
  readonly logoHash: string | null;
  /** The merchant's colour, as `#rrggbb`. Null for the gateway's colour. */
  readonly accentColor: string | null;
  readonly showsPoweredBy: boolean;
  /** True if the merchant accepts no money: it is suspended, frozen or deleted, or its partner is frozen or disabled. */
  readonly isStopped: boolean;
  readonly fees: readonly DatedFeeTerms[];
  /** The assets that the partner accepts in the merchant's mode. */
  readonly partnerAccepted: AcceptedAssets;
}

/** The owner of merchants: a partner in one mode. Every read and write by a partner is limited to its own id and mode. */
export interface Owner {
  readonly partnerId: string;
  readonly mode: Mode;
}

/** The merchants whose objects a caller may list: one merchant, or some or all merchants of a partner. */
export type MerchantPlace =
  | { readonly merchantId: string }
  | (Owner & { readonly merchantIds: readonly string[] | null });

/** The SQL condition that `place` contains the merchant `w`. */
export function isMerchantIn(db: Reader, place: MerchantPlace) {
  if ('merchantId' in place) return db`w.id = ${place.merchantId}`;
  const { partnerId, mode, merchantIds } = place;
  const isAllowed = merchantIds === null ? db`true` : db`w.id = any(${merchantIds as string[]}::text[])`;
  return db`w.partner_id = ${partnerId} and w.mode = ${mode} and ${isAllowed}`;
}

export interface MerchantQuery extends Owner {
  readonly status: MerchantStatus | undefined;
  readonly search: string | undefined;
  /** The merchants to which the caller's API key is restricted. Null for all merchants. */
  readonly merchantIds: readonly string[] | null;
  /** The last merchant of the page before this one. The list begins with the newest merchant. */
  readonly afterId: string | undefined;
  readonly limit: number;
}

type NewMerchant = Omit<Merchant, 'deletedAt' | 'acceptedAssets'> & Partial<Pick<Merchant, 'acceptedAssets'>>;

export async function insertMerchant(tx: Tx, merchant: NewMerchant): Promise<void> {
  const accepted = (merchant.acceptedAssets ?? null) as string[] | null;
  await tx`
    insert into merchants (id, partner_id, mode, name, email, status, icon_url, accepted_assets, created_at, updated_at)
    values (${merchant.id}, ${merchant.partnerId}, ${merchant.mode}, ${merchant.name}, ${merchant.email},
      ${merchant.status}, ${merchant.iconUrl}, ${accepted}, ${merchant.createdAt}, ${merchant.updatedAt})`;
}

/** The merchant with this id, if it belongs to the owner, even if it is deleted. The caller decides how to treat a deleted one. */
export async function findMerchant(db: Reader, owner: Owner, id: string): Promise<Merchant | undefined> {
  const [row] = await db<Merchant[]>`
    select ${columns(db)} from merchants
    where id = ${id} and partner_id = ${owner.partnerId} and mode = ${owner.mode}`;
  return row;
}

/** The merchants with these ids, of any partner, including deleted ones. */
export function findPayableMerchants(db: Reader, ids: readonly string[]): Promise<PayableMerchant[]> {
  return db<PayableMerchant[]>`
    select ${columns(db)}, coalesce((
      select json_agg(json_build_object('percentage', f.percentage, 'fixed', f.fixed,
        'isMerchants', f.merchant_id is not null, 'startsAtMs', extract(epoch from f.starts_at) * 1000) order by f.id)
      from fees f
      where f.partner_id = m.partner_id and (f.merchant_id is null or f.merchant_id = m.id)
    ), '[]') as fees,
    coalesce(b.logo_hash, (select l.hash from merchant_logos l where l.merchant_id = m.id)) as "logoHash",
    b.accent_color as "accentColor", coalesce(b.shows_powered_by, true) as "showsPoweredBy",
    ${isMerchantClosed(db)} as "isStopped",
    (select to_json(case m.mode when 'test' then p.accepted_test else p.accepted_live end)
      from partners p where p.id = m.partner_id) as "partnerAccepted"
    from merchants m left join merchant_brands b on b.merchant_id = m.id
    where m.id = any(${ids as string[]}::text[])`;
}

/** The given ids that are merchants of the owner and not deleted. */
export async function listOwnMerchants(db: Reader, owner: Owner, ids: readonly string[]): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from merchants
    where id = any(${ids}::text[]) and partner_id = ${owner.partnerId} and mode = ${owner.mode} and deleted_at is null`;
  return rows.map(({ id }) => id);
}

/** The merchant with this id, of any partner, even if it is deleted. For operators. */
export async function findMerchantOfAnyPartner(db: Reader, id: string): Promise<Merchant | undefined> {
  const [row] = await db<Merchant[]>`select ${columns(db)} from merchants where id = ${id}`;
  return row;
}

declare const isLocked: unique symbol;
/**
 * A merchant whose row the database transaction has locked. Merchants are always locked before their settlement destinations, to prevent
 * deadlocks. So functions that lock destinations require this type.
 */
export type LockedMerchant = Merchant & { readonly [isLocked]: true };

/**
 * Locks a merchant of any partner until the database transaction ends. The lock does not block inserts of rows that refer to the merchant.
 * An insert that must not happen at the same time as a deletion locks the merchant as well.
 */
export async function lockMerchant(tx: Tx, id: string): Promise<LockedMerchant | undefined> {
  const [row] = await tx<LockedMerchant[]>`select ${columns(tx)} from merchants where id = ${id} for no key update`;
  return row;
}

export async function updateMerchant(tx: Tx, merchant: Merchant): Promise<void> {
  await tx`
    update merchants
    set name = ${merchant.name}, email = ${merchant.email}, icon_url = ${merchant.iconUrl},
        status = ${merchant.status}, accepted_assets = ${merchant.acceptedAssets as string[] | null},
        updated_at = ${merchant.updatedAt}, deleted_at = ${merchant.deletedAt}
    where id = ${merchant.id}`;
}

/** A page of merchants and the exact number of all matches, from one snapshot. */
export async function listMerchants(
  db: Reader,
  query: MerchantQuery,
): Promise<{ page: Merchant[]; totalCount: number }> {
  const matching = db`
    partner_id = ${query.partnerId} and mode = ${query.mode} and deleted_at is null
    and ${query.status === undefined ? db`true` : db`status = ${query.status}`}
    and ${query.merchantIds === null ? db`true` : db`id = any(${[...query.merchantIds]})`}`;
  const after = query.afterId === undefined ? db`true` : db`id < ${query.afterId}`;
  const page = db`order by id desc limit ${query.limit}`;
  // The matches are materialized, because all of them must be counted anyway. Otherwise the planner may scan merchants from the newest on,
  // because it expects to find enough soon. For a rare text that would be a scan of the whole table.
  const rows =
    query.search === undefined
      ? await db<ListRow[]>`
          select ${columns(db)}, total.count as total
          from (select count(*)::int as count from merchants where ${matching}) total
          left join lateral (select * from merchants where ${matching} and ${after} ${page}) m on true
          order by id desc`
      : await db<ListRow[]>`
          with hits as materialized (
            select id as hit from merchants
            where ${matching} and search_text like lower(${containing(query.search)}) escape '\\'
          )
          select ${columns(db)}, total.count as total
          from (select count(*)::int as count from hits) total
          left join lateral (
            select m.* from merchants m where id in (select hit from hits) and ${after} ${page}
          ) m on true
          order by id desc`;
  return {
    page: rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row as Merchant])),
    totalCount: one(rows).total,
  };
}

/** A list of accepted assets, with the number of existing merchants that have it, and the lowest id of these merchants. */
export interface SharedList extends Pick<Merchant, 'acceptedAssets'> {
  readonly firstId: string;
  readonly merchants: number;
}

/**
 * The lists of accepted assets of a partner's existing merchants. Equal lists are grouped: a partner may have very many merchants, but few
 * different lists.
 */
export function groupMerchantLists(tx: Tx, { partnerId, mode }: Owner): Promise<SharedList[]> {
  return tx<SharedList[]>`
    select to_json(accepted_assets) as "acceptedAssets", min(id) as "firstId", count(*)::int as merchants from merchants
    where partner_id = ${partnerId} and mode = ${mode} and deleted_at is null and accepted_assets is not null
    group by accepted_assets order by min(id)`;
}

export interface OperatorMerchantQuery {
  readonly partnerId: string | undefined;
  readonly mode: Mode | undefined;
  readonly status: MerchantStatus | undefined;
  readonly search: string | undefined;
  readonly limit: number;
}

/** The newest matching merchants of all partners, for operators. */
export function listMerchantsOfAllPartners(db: Reader, query: OperatorMerchantQuery): Promise<Merchant[]> {
  const { partnerId, mode, status, search } = query;
  return db<Merchant[]>`
    select ${columns(db)} from merchants
    where deleted_at is null
      and ${partnerId === undefined ? db`true` : db`partner_id = ${partnerId}`}
      and ${mode === undefined ? db`true` : db`mode = ${mode}`}
      and ${status === undefined ? db`true` : db`status = ${status}`}
      and ${search === undefined ? db`true` : db`search_text like lower(${containing(search)}) escape '\\'`}
    order by id desc limit ${query.limit}`;
}

type ListRow = (Merchant | { id: null }) & { total: number };

/** The SQL pattern for texts that contain `text`. `%` and `_` in the text are escaped. */
function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

function columns(db: Reader) {
  return db`id, partner_id as "partnerId", mode, name, email, status, icon_url as "iconUrl",
    to_json(accepted_assets) as "acceptedAssets",
    created_at as "createdAt", updated_at as "updatedAt", deleted_at as "deletedAt"`;
}
