import { takesPart, VETOED } from '../../../domain/refund.ts';
import { ApiError } from '../../../errors.ts';
import { findOutgoing } from '../../../store/money/outgoing.ts';
import { findRefund, lockRefund, type Refund, replanRefund } from '../../../store/money/refunds.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { moveRefund } from './move-refund.ts';
import { releaseRefund } from './release-refund.ts';
import { refundNotFound } from './retry-refund.ts';

/**
 * Ends a refund that is not being sent yet, for example a refund that an attacker requested, or a refund that its recipient
 * cannot receive. Its part of the payment becomes free for another refund.
 */
export async function vetoRefund(
  deps: CommandDeps,
  { id, reason, actor }: { readonly id: string; readonly reason: string; readonly actor: string },
): Promise<Refund> {
  const found = await findRefund(deps.db.sql, id);
  if (found === undefined) throw refundNotFound(id);
  return command(deps, async (tx, at) => {
    // The payment is locked before the refund, as in every database transaction that locks both.
    const [payment] = await lockPayments(tx, [found.paymentId]);
    const refund = await lockRefund(tx, id);
    if (payment === undefined || refund === undefined) throw refundNotFound(id);
    if (refund.state === 'sending' || refund.state === 'refunded' || !takesPart(refund)) {
      const is = takesPart(refund) ? refund.state : 'over';
      throw new ApiError('invalid_state', `The refund is ${is}, and cannot be vetoed.`);
    }
    const outgoing = await findOutgoing(tx, id);
    if (outgoing?.signer === 'merchant') {
      const message = `The merchant's account was asked to sign for it, and can have that carried out until ${outgoing.deadline?.toISOString()}. It can be vetoed after that.`;
      throw new ApiError('invalid_state', message);
    }
    await releaseRefund(tx, { refund, at });
    const free = { ...refund, fromHeld: '0', fromMerchant: refund.amount, fromOperator: '0', waitsFor: null };
    await replanRefund(tx, id, free);
    const vetoed = await moveRefund(tx, free, { event: 'vetoed', actor, evidence: { reason }, problem: VETOED }, at);
    const detail = { before: { state: refund.state }, after: { state: vetoed.state }, reason };
    await appendAudit(tx, { at, actor, action: 'refund.vetoed', subject: id, detail });
    return vetoed;
  });
}
