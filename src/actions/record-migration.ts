import { appendAudit } from '../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from './command.ts';

export interface AppliedMigrations {
  readonly actor: string;
  /** The last migration that was applied before those in `applied`. Undefined for a new database. */
  readonly before: string | undefined;
  readonly applied: readonly string[];
}

/** Records applied migrations in the audit log. Called after the migrations, because one of them may create the audit log. */
export function recordMigration(deps: CommandDeps, { actor, before = '', applied }: AppliedMigrations): Promise<void> {
  const detail = { before, after: applied.at(-1), applied };
  return command(deps, (tx, at) =>
    appendAudit(tx, { at, actor, action: 'schema.migrated', subject: 'database', detail }),
  );
}
