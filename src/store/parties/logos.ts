import type { Picture } from '../../domain/picture.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A request to copy the logo of a merchant from its URL. */
export interface LogoRequest {
  readonly merchantId: string;
  readonly url: string;
  readonly wishedAt: Date;
}

export interface DueLogo extends LogoRequest {
  /** The number of attempts to copy the logo, including this one. */
  readonly attempts: number;
}

/**
 * Stores a request to copy a logo. If the URL is the same as before, the present copy stays until the new copy is stored. If the
 * URL has changed, the present copy is deleted.
 */
export async function requestLogo(tx: Tx, { merchantId, url, wishedAt }: LogoRequest): Promise<void> {
  await tx`
    insert into merchant_logos as l (merchant_id, source_url, wished_at, due_at)
    values (${merchantId}, ${url}, ${wishedAt}, ${wishedAt})
    on conflict (merchant_id) do update
    set source_url = excluded.source_url, wished_at = excluded.wished_at, due_at = excluded.due_at, attempts = 0,
        problem = null,
        hash = case when l.source_url = excluded.source_url then l.hash end,
        type = case when l.source_url = excluded.source_url then l.type end,
        bytes = case when l.source_url = excluded.source_url then l.bytes end,
        copied_at = case when l.source_url = excluded.source_url then l.copied_at end`;
}

export async function dropLogo(tx: Tx, merchantId: string): Promise<void> {
  await tx`delete from merchant_logos where merchant_id = ${merchantId}`;
}

/** The number of rows that are read for each logo to lease. More than one, because other nodes may have locked some of them. */
const CANDIDATES = 4;

/**
 * Leases some due logos to this node until `leasedUntil`. If the node dies, they are due again at that time. Partners take turns, so that a
 * partner with thousands of logos does not delay others.
 */
export function takeDueLogos(
  tx: Tx,
  { now, leasedUntil, limit }: { readonly now: Date; readonly leasedUntil: Date; readonly limit: number },
): Promise<DueLogo[]> {
  return tx<DueLogo[]>`
    update merchant_logos set due_at = ${leasedUntil}, attempts = attempts + 1
    where merchant_id in (
      select l.merchant_id
      from unnest(array(
        select merchant_id
        from (
          select l.merchant_id, l.due_at, row_number() over (partition by m.partner_id order by l.due_at) as turn
          from merchant_logos l join merchants m on m.id = l.merchant_id
          where l.due_at <= ${now}
        ) due
        order by turn, due_at limit ${limit * CANDIDATES}
      )) with ordinality as c(merchant_id, place)
      join merchant_logos l on l.merchant_id = c.merchant_id and l.due_at <= ${now}
      order by c.place limit ${limit} for update of l skip locked
    )
    returning merchant_id as "merchantId", source_url as url, wished_at as "wishedAt", attempts`;
}

/** Stores the copy of a logo, unless the merchant has meanwhile requested another one. */
export async function storeLogo(
  tx: Tx,
  { merchantId, url, wishedAt }: LogoRequest,
  logo: Picture & { at: Date },
): Promise<void> {
  await tx`
    update merchant_logos
    set hash = ${logo.hash}, type = ${logo.type}, bytes = ${logo.bytes}, copied_at = ${logo.at}, due_at = null,
        problem = null
    where merchant_id = ${merchantId} and source_url = ${url} and wished_at = ${wishedAt}`;
}

/** Stores the problem of a failed attempt, and the time of the next one. If `dueAt` is null, there is no further attempt. */
export async function failLogo(
  tx: Tx,
  { merchantId, url, wishedAt }: LogoRequest,
  { problem, dueAt }: { readonly problem: string; readonly dueAt: Date | null },
): Promise<void> {
  await tx`
    update merchant_logos set problem = ${problem}, due_at = ${dueAt}
    where merchant_id = ${merchantId} and source_url = ${url} and wished_at = ${wishedAt}`;
}

export async function findLogo(db: Reader, hash: string): Promise<Picture | undefined> {
  const [row] = await db<Picture[]>`
    select hash, type, bytes from merchant_logos where hash = ${hash}
    union all
    select logo_hash, logo_type, logo_bytes from merchant_brands where logo_hash = ${hash}
    limit 1`;
  return row;
}
