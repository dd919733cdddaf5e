import type { Reader, Tx } from '../plumbing/database.ts';

export interface Passkey {
  readonly id: string;
  readonly personId: string;
  /** The credential's id in base64url, as browsers send it. */
  readonly credentialId: string;
  readonly publicKey: string;
  /** The authenticator's signature counter. Zero if the authenticator does not count. */
  readonly counter: string;
  readonly transports: readonly string[];
  readonly label: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A passkey with the MAC that proves that the gateway wrote the row. */
export interface StoredPasskey extends Passkey {
  readonly mac: string;
}

/** Stores a passkey. Returns false if its credential is stored already. */
export async function insertPasskey(tx: Tx, passkey: StoredPasskey): Promise<boolean> {
  const { count } = await tx`
    insert into passkeys (
      id, person_id, credential_id, public_key, counter, transports, label, created_at, last_used_at, mac)
    values (${passkey.id}, ${passkey.personId}, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.counter},
      ${[...passkey.transports]}, ${passkey.label}, ${passkey.createdAt}, ${passkey.lastUsedAt}, ${passkey.mac})
    on conflict do nothing`;
  return count === 1;
}

export async function findPasskey(db: Reader, credentialId: string): Promise<StoredPasskey | undefined> {
  const [row] = await db<StoredPasskey[]>`
    select ${columns(db)} from passkeys k where k.credential_id = ${credentialId}`;
  return row;
}

export function listPasskeys(db: Reader, personId: string): Promise<StoredPasskey[]> {
  return db<StoredPasskey[]>`select ${columns(db)} from passkeys k where k.person_id = ${personId} order by k.id`;
}

/** Locks the passkeys of a person, so that two concurrent requests cannot remove the last two. */
export function lockPasskeys(tx: Tx, personId: string): Promise<StoredPasskey[]> {
  return tx<StoredPasskey[]>`
    select ${columns(tx)} from passkeys k where k.person_id = ${personId} order by k.id for update`;
}

/**
 * Stores the use of a passkey. Returns false if the counter did not grow: either the same answer was used before, or the authenticator was
 * copied.
 */
export async function notePasskeyUse(
  tx: Tx,
  { id, counter, at }: { id: string; counter: string; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update passkeys set counter = ${counter}, last_used_at = ${at}
    where id = ${id} and (counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0))`;
  return count === 1;
}

export async function deletePasskey(tx: Tx, id: string): Promise<void> {
  await tx`delete from passkeys where id = ${id}`;
}

/** Records that a challenge was answered. Returns false if it was answered before. */
export async function insertAnswered(tx: Tx, { hash, expiresAt }: { hash: string; expiresAt: Date }): Promise<boolean> {
  const { count } = await tx`
    insert into answered_challenges (hash, expires_at) values (${hash}, ${expiresAt}) on conflict do nothing`;
  return count === 1;
}

/** Deletes at most `limit` answered challenges that expired before `before`. Returns their number. */
export async function pruneAnswered(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from answered_challenges
    where hash in (select hash from answered_challenges where expires_at < ${before} limit ${limit})`;
  return count;
}

/** Locks a page of all passkeys, ordered by id. */
export function lockAllPasskeys(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredPasskey[]> {
  return tx<StoredPasskey[]>`
    select ${columns(tx)} from passkeys k where k.id > ${after} order by k.id limit ${limit} for update`;
}

export async function setPasskeyMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update passkeys k set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text) where k.id = m.id`;
}

function columns(db: Reader) {
  return db`k.id, k.person_id as "personId", k.credential_id as "credentialId", k.public_key as "publicKey",
    k.counter, to_json(k.transports) as transports, k.label, k.created_at as "createdAt",
    k.last_used_at as "lastUsedAt", k.mac`;
}
