import { appendAudit } from '../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from './command.ts';

export interface AppliedMigrations {
  readonly actor: string;
  /** The last migration that was there before; undefined for a new database. */
  readonly before: string | undefined;
  readonly applied: readonly string[];
}

/** Written after the migration: before it, there may be no audit log. */
export function recordMigration(deps: CommandDeps, { actor, before = '', applied }: AppliedMigrations): Promise<void> {
  const detail = { before, after: applied.at(-1), applied };
  return command(deps, (tx, at) =>
    appendAudit(tx, { at, actor, action: 'schema.migrated', subject: 'database', detail }),
  );
}
