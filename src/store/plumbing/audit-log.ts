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
