import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import type { KnownStock, LinkState } from '../../domain/payment-link.ts';
import type { Picture } from '../../domain/picture.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';

export interface PaymentLink extends LinkState {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: Mode;
  readonly merchantId: string;
  readonly description: string;
  /** The reference id that the link gives to the payments it creates. */
  readonly referenceId: string;
  readonly amountUnit: string;
  readonly amountDecimals: number;
  /** The price in minor units. Null if the payer chooses the amount. */
  readonly amountValue: string | null;
  readonly minimumValue: string | null;
  readonly maximumValue: string | null;
  readonly pictureHash: string | null;
  /** The assets that the link accepts. An asset must also be in the lists of the merchant and the partner. */
  readonly acceptedAssets: AcceptedAssets;
  readonly createdAt: Date;
}

export async function insertLink(tx: Tx, link: PaymentLink, picture: Picture | null): Promise<void> {
  await tx`
    insert into payment_links (id, partner_id, mode, merchant_id, description, reference_id, amount_unit, amount_decimals,
      amount_value, minimum_value, maximum_value, stock, status, expires_at, picture_hash, picture_type, picture_bytes,
      accepted_assets, created_at, updated_at)
    values (${link.id}, ${link.partnerId}, ${link.mode}, ${link.merchantId}, ${link.description}, ${link.referenceId},
      ${link.amountUnit}, ${link.amountDecimals}, ${link.amountValue}, ${link.minimumValue}, ${link.maximumValue},
      ${link.stock}, ${link.status}, ${link.expiresAt}, ${picture?.hash ?? null}, ${picture?.type ?? null},
      ${picture?.bytes ?? null}, ${link.acceptedAssets as string[] | null}, ${link.createdAt}, ${link.createdAt})`;
}

/** The link with this id, of any merchant. The caller checks the owner. */
export async function findLink(db: Reader, id: string): Promise<PaymentLink | undefined> {
  const [row] = await findLinks(db, [id]);
  return row;
}

export function findLinks(db: Reader, ids: readonly string[]): Promise<PaymentLink[]> {
  return db<PaymentLink[]>`
    select ${linkColumns(db)} from payment_links l where l.id = any(${ids as string[]}::text[]) order by l.id`;
}

export async function lockLink(tx: Tx, id: string): Promise<PaymentLink | undefined> {
  await tx`select from payment_links where id = ${id} for no key update`;
  const [row] = await findLinks(tx, [id]);
  return row;
}

export interface LinkQuery {
  readonly merchantId: string;
  /** The last link of the page before this one. Undefined for the first page. */
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** The links of a merchant, the newest first. */
export function listLinks(db: Reader, { merchantId, beforeId, limit }: LinkQuery): Promise<PaymentLink[]> {
  return db<PaymentLink[]>`
    select ${linkColumns(db)} from payment_links l
    where l.merchant_id = ${merchantId} and ${beforeId === undefined ? db`true` : db`l.id < ${beforeId}`}
    order by l.id desc limit ${limit}`;
}

export async function countActiveLinks(db: Reader, merchantId: string): Promise<number> {
  const rows = await db<{ count: number }[]>`
    select count(*)::int as count from payment_links where merchant_id = ${merchantId} and status = 'active'`;
  return one(rows).count;
}

/** Stores all changeable fields of a link that the caller has locked. Its picture stays if `picture` is undefined. */
export async function updateLink(
  tx: Tx,
  { link, picture, at }: { link: PaymentLink; picture: Picture | null | undefined; at: Date },
): Promise<void> {
  await tx`
    update payment_links
    set description = ${link.description}, stock = ${link.stock}, status = ${link.status},
      expires_at = ${link.expiresAt}, accepted_assets = ${link.acceptedAssets as string[] | null}, updated_at = ${at}
    where id = ${link.id}`;
  if (picture === undefined) return;
  await tx`
    update payment_links
    set picture_hash = ${picture?.hash ?? null}, picture_type = ${picture?.type ?? null},
      picture_bytes = ${picture?.bytes ?? null}
    where id = ${link.id}`;
}

export async function findLinkPicture(db: Reader, hash: string): Promise<Picture | undefined> {
  const [row] = await db<Picture[]>`
    select picture_hash as hash, picture_type as type, picture_bytes as bytes from payment_links
    where picture_hash = ${hash} limit 1`;
  return row;
}

/** The stock of a link, and the number of its pieces that payments have taken. */
export interface LinkStock extends KnownStock {
  readonly id: string;
}

export async function findLinkStock(db: Reader, id: string): Promise<LinkStock | undefined> {
  const [row] = await db<LinkStock[]>`select ${stockOf(db)} from payment_links l where l.id = ${id}`;
  return row;
}

/**
 * Locks links in a fixed order, and then counts their taken pieces. So database transactions that take pieces of the same link run one
 * after the other.
 */
export async function lockLinkStocks(tx: Tx, ids: readonly string[]): Promise<LinkStock[]> {
  await tx`select from payment_links where id = any(${ids as string[]}::text[]) order by id for no key update`;
  // The pieces are counted by a second statement. Its snapshot includes the pieces that were taken while this transaction waited for the
  // lock.
  return tx<LinkStock[]>`select ${stockOf(tx)} from payment_links l where l.id = any(${ids as string[]}::text[])`;
}

/** Stores that these payments take pieces of links. A payment that already has a piece keeps it. */
export async function takePieces(
  tx: Tx,
  pieces: readonly { readonly paymentId: string; readonly linkId: string }[],
): Promise<void> {
  await tx`
    insert into payment_link_pieces (payment_id, link_id)
    select * from unnest(${pieces.map(({ paymentId }) => paymentId)}::text[], ${pieces.map(({ linkId }) => linkId)}::text[])
    on conflict do nothing`;
}

export async function returnPieces(tx: Tx, paymentIds: readonly string[]): Promise<void> {
  await tx`delete from payment_link_pieces where payment_id = any(${paymentIds as string[]}::text[])`;
}

/** The columns of a `PaymentLink`, for the alias `l`. */
function linkColumns(db: Reader) {
  return db`${stockColumns(db)}, l.partner_id as "partnerId", l.mode, l.merchant_id as "merchantId", l.description,
    l.reference_id as "referenceId", l.amount_unit as "amountUnit", l.amount_decimals as "amountDecimals",
    l.amount_value as "amountValue", l.minimum_value as "minimumValue", l.maximum_value as "maximumValue", l.status,
    l.expires_at as "expiresAt", l.picture_hash as "pictureHash",
    to_json(l.accepted_assets) as "acceptedAssets", l.created_at as "createdAt"`;
}

function stockOf(db: Reader) {
  return db`${stockColumns(db)}, exists (select from freezes where scope = 'restored') as "isUncertain"`;
}

/** The columns of the stock, for the alias `l`. A link without a stock may have any number of payments, so its pieces are not counted. */
function stockColumns(db: Reader) {
  return db`l.id, l.stock, case when l.stock is not null then
    (select count(*)::int from payment_link_pieces p where p.link_id = l.id) end as taken`;
}
