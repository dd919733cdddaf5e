import { VETOED } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import type { UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { endReturn } from './note-return.ts';
import { lockUnexpectedOfPayment, unexpectedNotFound } from './return-unexpected.ts';

/**
 * Ends a requested return that is not being sent yet, for example a return that an attacker requested. The money can be returned
 * to another account.
 */
export function vetoReturn(
  deps: CommandDeps,
  { id, reason, actor }: { readonly id: string; readonly reason: string; readonly actor: string },
): Promise<UnexpectedMoney> {
  return command(deps, async (tx, at) => {
    const unexpected = await lockUnexpectedOfPayment(tx, id);
    if (unexpected === undefined) throw unexpectedNotFound(id);
    if (unexpected.state !== 'requested') {
      throw new ApiError('invalid_state', `No return of it can be vetoed: its state is ${unexpected.state}.`);
    }
    await endReturn(tx, unexpected, { problem: VETOED, actor, evidence: { reason } }, at);
    const { recipient } = unexpected;
    const detail = { before: { state: unexpected.state, recipient }, after: { state: 'unclaimed' }, reason };
    await appendAudit(tx, { at, actor, action: 'stray.vetoed', subject: id, detail });
    return { ...unexpected, state: 'unclaimed', recipient: null, requestedAt: null, sendAfter: null, problem: VETOED };
  });
}
