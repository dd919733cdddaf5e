import type { Picture } from '../../domain/picture.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';

/** The branding of a merchant on the pages that its payers see. */
export interface Brand {
  readonly uploadedHash: string | null;
  /** The hash of the gateway's copy of the logo at the merchant's `iconUrl`. Null without a copy. */
  readonly copiedHash: string | null;
  /** The merchant's colour, as `#rrggbb`. Null for the gateway's colour. */
  readonly accentColor: string | null;
  readonly showsPoweredBy: boolean;
}

/** The branding of a merchant, which must exist. */
export async function findBrand(db: Reader, merchantId: string): Promise<Brand> {
  const rows = await db<Brand[]>`
    select b.logo_hash as "uploadedHash", l.hash as "copiedHash", b.accent_color as "accentColor",
      coalesce(b.shows_powered_by, true) as "showsPoweredBy"
    from merchants m
    left join merchant_brands b on b.merchant_id = m.id
    left join merchant_logos l on l.merchant_id = m.id
    where m.id = ${merchantId}`;
  return one(rows);
}

/** Stores the branding of a merchant that the caller has locked. The uploaded logo stays if `logo` is undefined. */
export async function saveBrand(
  tx: Tx,
  merchantId: string,
  {
    accentColor,
    showsPoweredBy,
    logo,
    at,
  }: Pick<Brand, 'accentColor' | 'showsPoweredBy'> & { logo: Picture | null | undefined; at: Date },
): Promise<void> {
  await tx`
    insert into merchant_brands (merchant_id, accent_color, shows_powered_by, changed_at)
    values (${merchantId}, ${accentColor}, ${showsPoweredBy}, ${at})
    on conflict (merchant_id) do update
    set accent_color = excluded.accent_color, shows_powered_by = excluded.shows_powered_by,
      changed_at = excluded.changed_at`;
  if (logo === undefined) return;
  await tx`
    update merchant_brands
    set logo_hash = ${logo?.hash ?? null}, logo_type = ${logo?.type ?? null}, logo_bytes = ${logo?.bytes ?? null}
    where merchant_id = ${merchantId}`;
}
