import type { AuditRow } from '../../domain/signed-head.ts';
import type { Reader, Tx } from './database.ts';

export interface AuditEntry {
  readonly at: Date;
  /** `key:<id>` or `operator`. */
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  await tx`
    insert into audit_log (at, actor, action, subject, detail)
    values (${entry.at}, ${entry.actor}, ${entry.action}, ${entry.subject}, ${tx.json(entry.detail as never)})`;
}

/** True if the log has an entry about that action on that subject. */
export async function findAudit(
  db: Reader,
  { action, subject }: Pick<AuditEntry, 'action' | 'subject'>,
): Promise<boolean> {
  const rows = await db`select from audit_log where subject = ${subject} and action = ${action} limit 1`;
  return rows.length > 0;
}

/** The id of the last entry before every entry of that time or later; 0 when there is none. */
export async function findLastAuditId(db: Reader, before: Date): Promise<string> {
  const [row] = await db<{ id: string }[]>`
    select coalesce(max(id), 0)::text as id from audit_log
    where id < coalesce((select min(id) from audit_log where at >= ${before}), 9223372036854775807)`;
  return row?.id ?? '0';
}

/** Entries in the order of their ids, as text that is the same after a dump and restore. */
export function listAuditRows(
  db: Reader,
  { after, upTo, limit }: { after: string; upTo: string; limit: number },
): Promise<AuditRow[]> {
  return db<AuditRow[]>`
    select id::text as id, extract(epoch from at)::text as at, actor, action, subject, detail::text as detail
    from audit_log where audit_log.id > ${after}::bigint and audit_log.id <= ${upTo}::bigint order by audit_log.id limit ${limit}`;
}
