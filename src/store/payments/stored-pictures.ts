import type { Picture } from '../../domain/picture.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** Where pictures are stored: logos that were copied or uploaded, by merchant, and pictures of payment links, by link. */
export const PICTURE_PLACES = ['copied', 'uploaded', 'link'] as const;
export type PicturePlace = (typeof PICTURE_PLACES)[number];

export interface StoredPicture extends Picture {
  readonly id: string;
}

interface Page {
  /** The last id of the page before this one. Only pictures with a greater id are returned. */
  readonly after: string;
  readonly limit: number;
}

export function listPictures(db: Reader, place: PicturePlace, { after, limit }: Page): Promise<StoredPicture[]> {
  const query = {
    copied: () => db`select merchant_id as id, hash, type, bytes from merchant_logos where hash is not null`,
    uploaded: () =>
      db`select merchant_id, logo_hash, logo_type, logo_bytes from merchant_brands where logo_hash is not null`,
    link: () =>
      db`select id, picture_hash, picture_type, picture_bytes from payment_links where picture_hash is not null`,
  }[place];
  return db<StoredPicture[]>`
    select id, hash, type, bytes from (${query()}) p(id, hash, type, bytes) where id > ${after} order by id limit ${limit}`;
}

export interface LogoChange {
  readonly merchantId: string;
  /** The hash of the logo to replace. Nothing changes if the stored logo has another hash by now. */
  readonly hash: string;
  /** The new logo, or the reason why the merchant has none. */
  readonly logo: Picture | { readonly problem: string };
}

/** Replaces a logo that was copied from a URL. Returns false if the logo was changed meanwhile. */
export async function replaceCopiedLogo(tx: Tx, { merchantId, hash, logo }: LogoChange): Promise<boolean> {
  const { picture, problem } =
    'problem' in logo ? { picture: null, problem: logo.problem } : { picture: logo, problem: null };
  const rows = await tx`
    update merchant_logos
    set hash = ${picture?.hash ?? null}, type = ${picture?.type ?? null}, bytes = ${picture?.bytes ?? null},
      copied_at = case when ${problem}::text is null then copied_at end, problem = coalesce(${problem}, problem)
    where merchant_id = ${merchantId} and hash = ${hash} returning 1`;
  return rows.length > 0;
}

/** Replaces a logo that was uploaded. Returns false if the logo was changed meanwhile. */
export async function replaceUploadedLogo(tx: Tx, { merchantId, hash, logo }: LogoChange): Promise<boolean> {
  const picture = 'problem' in logo ? null : logo;
  const rows = await tx`
    update merchant_brands
    set logo_hash = ${picture?.hash ?? null}, logo_type = ${picture?.type ?? null}, logo_bytes = ${picture?.bytes ?? null}
    where merchant_id = ${merchantId} and logo_hash = ${hash} returning 1`;
  return rows.length > 0;
}
