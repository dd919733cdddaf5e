import type { Mode } from '../../domain/mode.ts';
import type { Belonging, RefundLimit, Role } from '../../domain/role.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';

export type Person = Belonging & {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** The limits up to which the person may refund payments. Null if only the role limits refunds. */
  readonly refundLimits: readonly RefundLimit[] | null;
  readonly version: number;
  readonly createdAt: Date;
  /** The time of the first sign-in. Null before it. */
  readonly joinedAt: Date | null;
  readonly removedAt: Date | null;
};

/** A person with the MAC that proves that the gateway wrote the row. */
export type StoredPerson = Person & { readonly mac: string };

export type ListedPerson = StoredPerson & {
  /** The time of the last request in any session of the person. */
  readonly lastSeenAt: Date | null;
  readonly passkeys: number;
};

/** The people that a caller may see: those of the operator, of a partner or of a merchant. */
export type PeopleQuery =
  | { readonly belongsTo: 'operator' }
  | { readonly belongsTo: 'partner'; readonly partnerId: string; readonly mode: Mode | null }
  | { readonly belongsTo: 'merchant'; readonly merchantId: string };

/** Stores a person. Returns false if a person with this email address already belongs to the same operator, partner or merchant. */
export async function insertPerson(tx: Tx, person: StoredPerson): Promise<boolean> {
  const { count } = await tx`
    insert into people (
      id, belongs_to, partner_id, merchant_id, mode, name, email, role, refund_limits, version, created_at, mac)
    values (${person.id}, ${person.belongsTo}, ${person.partnerId}, ${person.merchantId}, ${person.mode},
      ${person.name}, ${person.email}, ${person.role}, ${tx.json(person.refundLimits)}, ${person.version},
      ${person.createdAt}, ${person.mac})
    on conflict do nothing`;
  return count === 1;
}

/** Stores changes of a person. Returns false if another change was stored after the person was read. */
export async function updatePerson(tx: Tx, person: StoredPerson): Promise<boolean> {
  const { count } = await tx`
    update people set name = ${person.name}, role = ${person.role}, refund_limits = ${tx.json(person.refundLimits)},
      version = ${person.version}, mac = ${person.mac}
    where id = ${person.id} and version = ${person.version - 1} and removed_at is null`;
  return count === 1;
}

export async function noteJoined(tx: Tx, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`update people set joined_at = ${at} where id = ${id} and joined_at is null`;
}

/** Removes a person, and ends the sessions, links and passkeys of the person. Returns the hashes of the ended sessions. */
export async function removePersonRow(tx: Tx, { id, at }: { id: string; at: Date }): Promise<string[]> {
  await tx`insert into person_ends (person_id, at) values (${id}, ${at}) on conflict do nothing`;
  await tx`update people set removed_at = ${at} where id = ${id} and removed_at is null`;
  const ended = await tx<{ hash: string }[]>`
    update sessions set ended_at = ${at} where person_id = ${id} and ended_at is null returning hash`;
  await tx`delete from sign_in_links where person_id = ${id}`;
  await tx`delete from passkeys where person_id = ${id}`;
  return ended.map(({ hash }) => hash);
}

/** The person with this id. Undefined if the person was removed. */
export async function findPerson(db: Reader, id: string): Promise<StoredPerson | undefined> {
  const [row] = await db<
    StoredPerson[]
  >`select ${personColumns(db)} from people p where p.id = ${id} and ${isHere(db)}`;
  return row;
}

export async function lockPerson(tx: Tx, id: string): Promise<StoredPerson | undefined> {
  await tx`select from people where id = ${id} for update`;
  return findPerson(tx, id);
}

/**
 * The SQL columns with the times at which the partner of the person `p` was disabled and its merchant was deleted. From then on, the person
 * has no rights.
 */
export function placeEnds(db: Reader) {
  return db`(select r.disabled_at from partners r where r.id = p.partner_id) as "partnerDisabledAt",
    (select m.deleted_at from merchants m where m.id = p.merchant_id) as "merchantDeletedAt"`;
}

/** True if the person does not exist, or if the person's partner is disabled or the person's merchant is deleted. */
export async function isWithoutPlace(db: Reader, id: string): Promise<boolean> {
  const [row] = await db<{ partnerDisabledAt: Date | null; merchantDeletedAt: Date | null }[]>`
    select ${placeEnds(db)} from people p where p.id = ${id}`;
  return row === undefined || row.partnerDisabledAt !== null || row.merchantDeletedAt !== null;
}

/** The sort key of the last person on a page. */
export interface PeoplePlace {
  readonly ofMerchant: boolean;
  readonly id: string;
}

/** A page of people. A partner's own people come before those of its merchants, so that a merchant cannot push them off the first page. */
export function listPeople(
  db: Reader,
  query: PeopleQuery,
  { after, limit }: { readonly after?: PeoplePlace | undefined; readonly limit: number },
): Promise<ListedPerson[]> {
  const isLater =
    after === undefined ? db`true` : db`(p.merchant_id is not null, p.id) > (${after.ofMerchant}, ${after.id})`;
  return db<ListedPerson[]>`
    select ${personColumns(db)},
      (select max(s.last_used_at) from sessions s where s.person_id = p.id) as "lastSeenAt",
      (select count(*)::int from passkeys k where k.person_id = p.id) as passkeys
    from people p where ${isHere(db)} and ${placeOf(db, query)} and ${isLater}
    order by p.merchant_id is not null, p.id limit ${limit}`;
}

/** The number of people of an operator, partner or merchant. The people of a partner's merchants do not count as people of the partner. */
export async function countPeople(db: Reader, { belongsTo, partnerId, merchantId }: Belonging): Promise<number> {
  const rows = await db<{ count: number }[]>`
    select count(*)::int as count from people p
    where ${isHere(db)} and p.belongs_to = ${belongsTo} and p.partner_id is not distinct from ${partnerId}
      and p.merchant_id is not distinct from ${merchantId}`;
  return one(rows).count;
}

export function listEverybody(db: Reader, limit: number): Promise<ListedPerson[]> {
  return db<ListedPerson[]>`
    select ${personColumns(db)},
      (select max(s.last_used_at) from sessions s where s.person_id = p.id) as "lastSeenAt",
      (select count(*)::int from passkeys k where k.person_id = p.id) as passkeys
    from people p where ${isHere(db)} order by p.id limit ${limit}`;
}

/**
 * Locks the owners of an operator, partner or merchant, so that two owners cannot remove each other at the same time. Returns their ids.
 */
export async function lockOwners(tx: Tx, { belongsTo, partnerId, merchantId }: Belonging): Promise<string[]> {
  const isOwner = tx`p.role = 'owner' and p.belongs_to = ${belongsTo}
    and p.partner_id is not distinct from ${partnerId} and p.merchant_id is not distinct from ${merchantId}`;
  await tx`select from people p where ${isOwner} order by p.id for update`;
  const rows = await tx<{ id: string }[]>`
    select p.id from people p where ${isHere(tx)} and ${isOwner} order by p.id`;
  return rows.map(({ id }) => id);
}

/** The names of the people with these ids, including removed people. */
export function findPersonNames(db: Reader, ids: readonly string[]): Promise<Pick<Person, 'id' | 'name'>[]> {
  return db<Pick<Person, 'id' | 'name'>[]>`select id, name from people where id = any(${[...ids]}::text[])`;
}

/** Locks a page of all people, ordered by id. */
export async function lockPeople(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredPerson[]> {
  const locked = await tx<{ id: string }[]>`
    select id from people where id > ${after} order by id limit ${limit} for update`;
  return tx<StoredPerson[]>`
    select ${personColumns(tx)} from people p where p.id = any(${locked.map(({ id }) => id)}::text[]) order by p.id`;
}

export async function setPersonMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update people p set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text) where p.id = m.id`;
}

export function personColumns(db: Reader) {
  return db`p.id, p.belongs_to as "belongsTo", p.partner_id as "partnerId", p.merchant_id as "merchantId", p.mode, p.name,
    p.email, p.role, p.refund_limits as "refundLimits", p.version, p.created_at as "createdAt",
    p.joined_at as "joinedAt", p.mac,
    least(p.removed_at, (select e.at from person_ends e where e.person_id = p.id)) as "removedAt"`;
}

function isHere(db: Reader) {
  return db`p.removed_at is null and not exists (select from person_ends e where e.person_id = p.id)`;
}

function placeOf(db: Reader, query: PeopleQuery) {
  if (query.belongsTo === 'operator') return db`p.belongs_to = 'operator'`;
  if (query.belongsTo === 'merchant') return db`p.merchant_id = ${query.merchantId}`;
  const { partnerId, mode } = query;
  return db`p.partner_id = ${partnerId} and ${mode === null ? db`true` : db`(p.mode is null or p.mode = ${mode})`}`;
}
