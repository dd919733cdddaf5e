import { refundEntry } from '../../../domain/books.ts';
import { retryOf, takesPart } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { lockOutgoing } from '../../../store/money/outgoing.ts';
import { lockRefund, type Refund } from '../../../store/money/refunds.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { orderOutgoing } from '../order/order-outgoing.ts';
import { aboutRefund, moveRefund } from './move-refund.ts';

/** Retries a failed refund with the money that stayed reserved for it. A refund that failed before money was reserved begins again. */
export function retryRefund(
  deps: CommandDeps & RowKeyDeps,
  { id, actor }: { id: string; actor: string },
): Promise<Refund> {
  return command(deps, async (tx, now) => {
    const refund = await lockRefund(tx, id);
    if (refund === undefined) throw refundNotFound(id);
    if (refund.state !== 'failed') throw new ApiError('invalid_state', `The refund is ${refund.state}, not failed.`);
    if (!takesPart(refund)) {
      const message = `The refund ended with ${refund.problem}, and cannot be retried. It can be requested again.`;
      throw new ApiError('invalid_state', message);
    }
    await deleteAlert(tx, { name: 'refund_failed', subject: id });
    const event = retryOf((await lockOutgoing(tx, id)) !== undefined);
    const retried = await moveRefund(tx, refund, { event, actor, evidence: {} }, now);
    const detail = { before: { state: refund.state }, after: { state: retried.state } };
    await appendAudit(tx, { at: now, actor, action: 'refund.retried', subject: id, detail });
    if (event === 'reopened') return retried;
    const { network, asset, method, account: payer, recipient, merchantId } = refund;
    const amount = BigInt(refund.amount);
    const outgoing = { id, purpose: 'refund', network, asset, method, payer, recipient, amount } as const;
    const begun = await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: null }], now);
    if (begun.length !== 1) throw new Error('A failed refund is on its way.');
    await recordEntries(tx, [refundEntry('sent', aboutRefund(refund), amount)], now);
    return retried;
  });
}

export function refundNotFound(id: string): ApiError {
  return new ApiError('payment_not_found', `There is no refund ${id.slice(0, 80)}.`);
}
