import { ApiError } from '../../../errors.ts';
import { lockRefund, type Refund, setOperatorsRefund } from '../../../store/money/refunds.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { refundNotFound } from './retry-refund.ts';

/** Allows a refund to be sent although its merchant is suspended or frozen. */
export function approveRefund(deps: CommandDeps, { id, actor }: { id: string; actor: string }): Promise<Refund> {
  return command(deps, async (tx, at) => {
    const refund = await lockRefund(tx, id);
    if (refund === undefined) throw refundNotFound(id);
    if (refund.state === 'refunded') throw new ApiError('invalid_state', 'The refund has arrived.');
    await setOperatorsRefund(tx, id);
    const detail = { before: { isOperators: refund.isOperators }, after: { isOperators: true } };
    await appendAudit(tx, { at, actor, action: 'refund.approved', subject: id, detail });
    return { ...refund, isOperators: true };
  });
}
