import { lineOfAction } from '../../domain/money-line.ts';
import type { Origin } from '../../domain/origin.ts';
import type { AuditRow } from '../../domain/signed-head.ts';
import type { Reader, Tx } from './database.ts';

export interface AuditEntry {
  readonly at: Date;
  /** The party that acted: `key:<id>`, `person:<id>`, `operator`, or `operator:<name> (self-declared)`. */
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The partner and merchant that the entry concerns. Not needed if the origin of the database transaction names them. */
  readonly place?: { readonly partnerId: string | null; readonly merchantId: string | null };
}

export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  tx.outbox.money.push(...lineOfAction(entry));
  await tx`
    insert into audit_log (at, actor, action, subject, detail, origin)
    values (${entry.at}, ${entry.actor}, ${entry.action}, ${entry.subject}, ${tx.json(entry.detail as never)},
      ${tx.json(originOf(tx, entry))})`;
}

function originOf(tx: Tx, { place }: AuditEntry): Origin {
  const { partnerId, merchantId } = place ?? {};
  return { ...tx.origin, ...(partnerId && { partnerId }), ...(merchantId && { merchantId }) };
}

export interface StoredAuditEntry extends AuditEntry {
  readonly id: string;
  readonly origin: Origin;
  /** The database role that wrote the entry, as PostgreSQL recorded it. `databaseClient` is the network address of its connection. */
  readonly databaseUser: string | null;
  readonly databaseClient: string | null;
}

export interface AuditQuery {
  /** Lists the entries of this partner. `merchantId` lists those of this merchant's people. */
  readonly partnerId?: string | undefined;
  readonly merchantId?: string | undefined;
  /** The last entry of the page before this one. Undefined for the first page. */
  readonly beforeId?: string | undefined;
  readonly subject?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
}

/** Audit entries, the newest first. `actor` and `action` are prefixes, so `operator` also finds named operators. */
export function listAudit(db: Reader, query: AuditQuery): Promise<StoredAuditEntry[]> {
  const { partnerId, merchantId, beforeId, subject, actor, action, since, limit } = query;
  return db<StoredAuditEntry[]>`
    select id, at, actor, action, subject, detail, origin,
      database_user as "databaseUser", host(database_client) as "databaseClient"
    from audit_log
    where ${partnerId === undefined ? db`true` : db`origin ? 'partnerId' and origin ->> 'partnerId' = ${partnerId}`}
      and ${merchantId === undefined ? db`true` : db`origin ->> 'merchantId' = ${merchantId}`}
      and ${beforeId === undefined ? db`true` : db`id < ${beforeId}::bigint`}
      and ${subject === undefined ? db`true` : db`subject = ${subject}`}
      and ${actor === undefined ? db`true` : db`starts_with(actor, ${actor})`}
      and ${action === undefined ? db`true` : db`starts_with(action, ${action})`}
      and ${since === undefined ? db`true` : db`at >= ${since}`}
    order by id desc
    limit ${limit}`;
}

/** Audit entries with these subjects and actions in a period, the newest first. */
export function findAuditAbout(
  db: Reader,
  query: {
    readonly subjects: readonly string[];
    readonly actions: readonly string[];
    readonly from: Date;
    readonly to: Date;
    readonly limit: number;
  },
): Promise<AuditEntry[]> {
  const { subjects, actions, from, to, limit } = query;
  return db<AuditEntry[]>`
    select at, actor, action, subject, detail from audit_log
    where subject = any(${subjects as string[]}::text[]) and action = any(${actions as string[]}::text[])
      and at between ${from} and ${to}
    order by id desc limit ${limit}`;
}

export async function findAudit(
  db: Reader,
  { action, subject }: Pick<AuditEntry, 'action' | 'subject'>,
): Promise<boolean> {
  const rows = await db`select from audit_log where subject = ${subject} and action = ${action} limit 1`;
  return rows.length > 0;
}

/** The greatest id below the first entry that was written at `before` or later, or 0. The order of ids can differ from that of times. */
export async function findLastAuditId(db: Reader, before: Date): Promise<string> {
  const [row] = await db<{ id: string }[]>`
    select coalesce(max(id), 0)::text as id from audit_log
    where id < coalesce((select min(id) from audit_log where at >= ${before}), 9223372036854775807)`;
  return row?.id ?? '0';
}

/** Audit entries by id, as texts that a dump and a restore do not change. */
export function listAuditRows(
  db: Reader,
  { after, upTo, limit }: { after: string; upTo: string; limit: number },
): Promise<AuditRow[]> {
  return db<AuditRow[]>`
    select l.id::text as id, extract(epoch from l.at)::text as at, l.actor, l.action, l.subject, l.detail::text as detail,
      l.origin::text as origin, l.database_user as "databaseUser", l.database_client::text as "databaseClient"
    from audit_log l where l.id > ${after}::bigint and l.id <= ${upTo}::bigint order by l.id limit ${limit}`;
}
