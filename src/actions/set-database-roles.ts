import { appendAudit } from '../store/plumbing/audit-log.ts';
import { applyRoles } from '../store/plumbing/database-roles.ts';
import { type CommandDeps, command } from './command.ts';

/** Creates missing database roles, sets the rights of all roles, and records this in the audit log. */
export async function setDatabaseRoles(
  deps: CommandDeps,
  { actor, migrateUrl }: { readonly actor: string; readonly migrateUrl: string },
): Promise<void> {
  await applyRoles(migrateUrl);
  await command(deps, (tx, at) =>
    appendAudit(tx, { at, actor, action: 'database.roles_set', subject: 'database', detail: {} }),
  );
}
