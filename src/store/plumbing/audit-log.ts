import type { Tx } from './database.ts';

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
