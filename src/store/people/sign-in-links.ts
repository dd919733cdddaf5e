import type { Reader, Tx } from '../plumbing/database.ts';

/** A link that a person can use once to sign in. */
export interface SignInLink {
  readonly id: string;
  readonly personId: string;
  readonly hash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A sign-in link with the MAC that proves that the gateway wrote the row. */
export interface StoredLink extends SignInLink {
  readonly mac: string;
}

/** Stores a sign-in link, and deletes the person's unused links, so that only the newest one is in force. */
export async function putLink(tx: Tx, link: StoredLink): Promise<void> {
  await tx`delete from sign_in_links where person_id = ${link.personId} and used_at is null`;
  await tx`
    insert into sign_in_links (id, person_id, hash, created_at, expires_at, mac)
    values (${link.id}, ${link.personId}, ${link.hash}, ${link.createdAt}, ${link.expiresAt}, ${link.mac})`;
}

/** Marks an unused link as used, and returns it. Undefined if it is used or expired: of two concurrent requests, only the first gets it. */
export async function takeLink(tx: Tx, { hash, at }: { hash: string; at: Date }): Promise<StoredLink | undefined> {
  const [row] = await tx<StoredLink[]>`
    update sign_in_links l set used_at = ${at}
    where l.hash = ${hash} and l.used_at is null and l.expires_at > ${at}
    returning ${columns(tx)}`;
  return row;
}

/** Deletes at most `limit` links that expired before `before`. Returns their number. */
export async function pruneLinks(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from sign_in_links where id in (select id from sign_in_links where expires_at < ${before} limit ${limit})`;
  return count;
}

function columns(db: Reader) {
  return db`l.id, l.person_id as "personId", l.hash, l.created_at as "createdAt", l.expires_at as "expiresAt", l.mac`;
}
