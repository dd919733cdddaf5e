import type { RegistryDeps } from '../../../chains/registry.ts';
import { NOT_LEFT, planShare, takesPart } from '../../../domain/refund.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import { lockOutgoing } from '../../../store/money/outgoing.ts';
import { lockRefundsOf, type Refund, replanRefund } from '../../../store/money/refunds.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { moveRefund } from '../../outgoing/refund/move-refund.ts';
import { planRefund, shareLeft, shareOfPayment } from '../../outgoing/refund/plan-refund.ts';
import { releaseRefund } from '../../outgoing/refund/release-refund.ts';
import type { RowKeyDeps } from '../../row-keys.ts';

/** A payment whose refunds are planned again, because the chain shows a transfer that the database did not know. */
export interface Replanned {
  readonly payment: Payment;
  /** The item that paid the payment. */
  readonly item: StoredItem;
  /** The account that holds the floats. */
  readonly floatAccount: string;
}

/**
 * Releases the money that covers the unsigned refunds of a payment, and returns these refunds. A refund that may have been signed keeps
 * its cover. A refund that failed without taking a part of the payment (vetoed, or more than was left) has no cover, and is returned only
 * if the chain shows its id.
 */
export async function releaseRefunds(
  tx: Tx,
  { payment, shownId, at }: Pick<Replanned, 'payment'> & { readonly shownId?: string; readonly at: Date },
): Promise<Refund[]> {
  const released: Refund[] = [];
  for (const refund of await lockRefundsOf(tx, payment.id)) {
    if (refund.state === 'refunded' || (!takesPart(refund) && refund.id !== shownId)) continue;
    const outgoing = await lockOutgoing(tx, refund.id);
    if (outgoing !== undefined && outgoing.commitment !== null) continue;
    await releaseRefund(tx, { refund, at });
    const free = { ...refund, fromHeld: '0', fromMerchant: refund.amount, fromOperator: '0', waitsFor: null };
    await replanRefund(tx, refund.id, free);
    released.push(await moveRefund(tx, free, { event: 'replanned', actor: 'operator', evidence: {} }, at));
  }
  return released;
}

/** Plans released refunds again, in the order of their numbers. A refund ends if it is more than the payment has left. */
export async function replanRefunds(
  tx: Tx,
  deps: RowKeyDeps & RegistryDeps,
  { payment, item, floatAccount, released }: Replanned & { readonly released: readonly Refund[] },
  at: Date,
): Promise<void> {
  const whole = shareOfPayment(payment, item);
  const isReleased = (id: string) => released.some((each) => each.id === id);
  const planned = (await lockRefundsOf(tx, payment.id)).filter(({ id }) => !isReleased(id));
  for (const refund of released) {
    const { id, number, recipient, reason, isOperators, sendAfter } = refund;
    const asked = { unit: 'asset', value: BigInt(refund.amount) } as const;
    const plan = planShare(whole, shareLeft(whole, planned), asked);
    if (!plan.ok) {
      const evidence = { left: shareLeft(whole, planned).amount.toString() };
      await moveRefund(tx, refund, { event: 'unfit', actor: 'operator', evidence, problem: NOT_LEFT }, at);
      const detail = { amount: refund.amount, ...evidence };
      await appendAudit(tx, { at, actor: 'operator', action: 'refund.unfit', subject: id, detail });
      continue;
    }
    const terms = { payment, item, number, share: plan.share, recipient, reason, isOperators, sendAfter };
    const next = await planRefund(tx, deps, { ...terms, floatAccount: () => floatAccount });
    await replanRefund(tx, id, next);
    planned.push({ ...refund, ...next });
  }
}
