import { appendAudit } from '../store/plumbing/audit-log.ts';
import { applyRoles } from '../store/plumbing/database-roles.ts';
import { type CommandDeps, command } from './command.ts';

/** Creates the roles of the database where they are missing, sets their rights, and records it. */
export async function setDatabaseRoles(
  deps: CommandDeps,
  { actor, migrateUrl }: { readonly actor: string; readonly migrateUrl: string },
): Promise<void> {
  await applyRoles(migrateUrl);
  await command(deps, (tx, at) =>
    appendAudit(tx, { at, actor, action: 'database.roles_set', subject: 'database', detail: {} }),
  );
}
