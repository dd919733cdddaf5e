import { appendAudit, findAudit } from '../../store/plumbing/audit-log.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { renewOutgoingMacs } from './order-outgoing.ts';

const ADOPTED = { action: 'rows.adopted', subject: 'outgoing' } as const;

/**
 * Gives the transfers of an older version their MACs, once in the life of a database. The entry in the audit log, which
 * cannot be removed, is the mark: a row without a MAC that appears later was not written by the gateway.
 */
export function adoptOutgoing(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return command(deps, async (tx, now) => {
    await lockName(tx, ADOPTED.action);
    if (await findAudit(tx, ADOPTED)) return;
    const rows = await renewOutgoingMacs(tx, deps, { isTrusted: ({ mac }) => mac === null, now });
    await appendAudit(tx, { ...ADOPTED, at: now, actor: 'gateway', detail: { rows } });
  });
}
