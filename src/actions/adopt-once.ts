import { appendAudit, findAudit } from '../store/plumbing/audit-log.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { lockName } from '../store/plumbing/locks.ts';
import { type CommandDeps, command } from './command.ts';

const ACTION = 'rows.adopted';

/**
 * Writes the MACs of rows that an older version stored without one, once in the life of a database. The append-only audit log
 * records that this was done: a row without a MAC that appears later was not written by the gateway. The work returns the number of
 * rows.
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
