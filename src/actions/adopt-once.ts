import { appendAudit, findAudit } from '../store/plumbing/audit-log.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { lockName } from '../store/plumbing/locks.ts';
import { type CommandDeps, command } from './command.ts';

const ACTION = 'rows.adopted';

/**
 * Runs `work` once in the life of a database. `work` writes the MACs of rows that an older version stored without one, and returns their
 * number. The append-only audit log records the run. So a row without a MAC that appears later is known not to come from the gateway.
 */
export function adoptOnce(
  deps: CommandDeps,
  table: string,
  work: (tx: Tx, now: Date) => Promise<number>,
): Promise<void> {
  return command(deps, async (tx, now) => {
    await lockName(tx, `${ACTION} ${table}`);
    if (await findAudit(tx, { action: ACTION, subject: table })) return;
    const rows = await work(tx, now);
    await appendAudit(tx, { at: now, actor: 'gateway', action: ACTION, subject: table, detail: { rows } });
  });
}
