import type { Reader, Tx } from '../plumbing/database.ts';
import { personColumns, placeEnds, type StoredPerson } from './people.ts';

export interface Session {
  readonly id: string;
  readonly personId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date;
  readonly verifiedAt: Date;
  readonly endedAt: Date | null;
  readonly address: string;
  readonly userAgent: string;
}

/** The fields of a session that its MAC covers. */
export interface SessionRights extends Pick<Session, 'id' | 'personId' | 'createdAt' | 'expiresAt'> {
  readonly hash: string;
}

export interface StoredSession extends Session, SessionRights {
  readonly mac: string;
}

/** A session with its person. It also has the times at which the person's partner was disabled and the person's merchant was deleted. */
export interface SessionHolder extends StoredSession {
  readonly person: StoredPerson;
  readonly partnerDisabledAt: Date | null;
  readonly merchantDeletedAt: Date | null;
}

export async function insertSession(tx: Tx, session: StoredSession): Promise<void> {
  await tx`
    insert into sessions (
      id, person_id, hash, created_at, expires_at, last_used_at, verified_at, address, user_agent, mac)
    values (${session.id}, ${session.personId}, ${session.hash}, ${session.createdAt}, ${session.expiresAt},
      ${session.lastUsedAt}, ${session.verifiedAt}, ${session.address}, ${session.userAgent}, ${session.mac})`;
}

export async function findSessionHolders(db: Reader, hashes: readonly string[]): Promise<SessionHolder[]> {
  const rows = await db<Omit<SessionHolder, 'person'>[]>`
    select ${columns(db)}, s.hash, s.mac, ${placeEnds(db)}
    from sessions s join people p on p.id = s.person_id
    where s.hash = any(${[...hashes]}::text[])`;
  const people = await db<StoredPerson[]>`
    select ${personColumns(db)} from people p where p.id = any(${rows.map(({ personId }) => personId)}::text[])`;
  const byId = new Map(people.map((person) => [person.id, person]));
  return rows.flatMap((row) => {
    const person = byId.get(row.personId);
    return person === undefined ? [] : [{ ...row, person }];
  });
}

export async function lockSession(tx: Tx, id: string): Promise<StoredSession | undefined> {
  const [row] = await tx<StoredSession[]>`
    select ${columns(tx)}, s.hash, s.mac from sessions s where s.id = ${id} and s.ended_at is null for update`;
  return row;
}

/** The sessions of a person that nobody has ended, the newest first. Expired sessions are included until they are pruned. */
export function listSessions(db: Reader, personId: string, limit: number): Promise<Session[]> {
  return db<Session[]>`
    select ${columns(db)} from sessions s where s.person_id = ${personId} and s.ended_at is null
    order by s.id desc limit ${limit}`;
}

export async function findSession(
  db: Reader,
  id: string,
): Promise<(Session & Pick<StoredSession, 'hash'>) | undefined> {
  const [row] = await db<(Session & Pick<StoredSession, 'hash'>)[]>`
    select ${columns(db)}, s.hash from sessions s where s.id = ${id} and s.ended_at is null`;
  return row;
}

export async function endSessionRow(tx: Tx, { id, at }: { id: string; at: Date }): Promise<boolean> {
  const { count } = await tx`update sessions set ended_at = ${at} where id = ${id} and ended_at is null`;
  return count === 1;
}

export async function setVerified(
  tx: Tx,
  { id, verifiedAt, expiresAt, mac }: Pick<StoredSession, 'id' | 'verifiedAt' | 'expiresAt' | 'mac'>,
): Promise<void> {
  await tx`
    update sessions set verified_at = ${verifiedAt}, expires_at = ${expiresAt}, mac = ${mac} where id = ${id}`;
}

/** Stores the times at which sessions were last used, in one statement. */
export async function recordSessionUses(tx: Tx, uses: ReadonlyMap<string, Date>): Promise<void> {
  await tx`
    update sessions s set last_used_at = u.at::timestamptz
    from unnest(${[...uses.keys()]}::text[], ${[...uses.values()].map((at) => at.toISOString())}::text[]) as u(id, at)
    where s.id = u.id and s.last_used_at < u.at::timestamptz`;
}

/** Deletes at most `limit` sessions that expired before `before`. Returns their number. */
export async function pruneSessions(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from sessions where id in (select id from sessions where expires_at < ${before} limit ${limit})`;
  return count;
}

function columns(db: Reader) {
  return db`s.id, s.person_id as "personId", s.created_at as "createdAt", s.expires_at as "expiresAt",
    s.last_used_at as "lastUsedAt", s.verified_at as "verifiedAt", s.ended_at as "endedAt", s.address,
    s.user_agent as "userAgent"`;
}
