import type { Registry, RegistryDeps } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { OPERATOR_FLOAT } from '../../../domain/books.ts';
import { refundNumberOf } from '../../../domain/ids.ts';
import { planShare, type RefundEvent, type RefundState, retryOf } from '../../../domain/refund.ts';
import { holdItems } from '../../../store/money/lots.ts';
import { lockRefund, lockRefundsOf, type Refund, replanRefund } from '../../../store/money/refunds.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { moveRefund, openRefund } from '../../outgoing/refund/move-refund.ts';
import { planRefund, shareLeft, shareOfPayment } from '../../outgoing/refund/plan-refund.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { type Replanned, releaseRefunds, replanRefunds } from './replan-refunds.ts';
import { evidenceOf, type Left, paymentOf, type Restored, takeUnpaid, Unplaced } from './restoring.ts';

/** The events that move a refund from each state to `refunded`. */
const STEPS: Readonly<Record<RefundState, readonly RefundEvent[]>> = {
  requested: ['covered', 'paid'],
  awaiting_funds: ['covered', 'paid'],
  sending: ['paid'],
  failed: ['retried', 'paid'],
  refunded: [],
};
/** The events that move a refund to `refunded` if it failed before it was covered. */
const UNCOVERED_STEPS: readonly RefundEvent[] = ['reopened', 'covered', 'paid'];

/**
 * Restores a refund that was carried out on chain. If the database does not know the refund, or has given its number to another
 * request since the backup, the refund is stored as the chain shows it. Refunds of the payment that were never signed are then
 * planned again, so that all of them together stay within the paid amount.
 */
export async function restoreRefund(tx: Tx, deps: RowKeyDeps & RegistryDeps, left: Left): Promise<Restored> {
  const { id, event, at } = left;
  const { payment, item } = await paymentOf(tx, id);
  if (event.asset !== item.asset || event.amount > BigInt(item.amount)) {
    throw new Unplaced('does not match its payment');
  }
  const replanned = { payment, item, floatAccount: left.connected.intermediateAccount };
  const stored = await lockRefund(tx, id);
  const isKnown =
    stored !== undefined &&
    isSameAddress(item.asset, stored.recipient, event.recipient) &&
    stored.amount === event.amount.toString();
  // If floats covered the refund, but the merchant's own account has paid it, the floats get their money back.
  const isPaidElsewhere = left.signer === 'merchant' && left.before?.signer === 'gateway';
  if (isPaidElsewhere && left.before?.state === 'paid') {
    throw new Unplaced("was paid from floats, and a second time by the merchant's own account");
  }
  if (isKnown && !isPaidElsewhere) {
    const isChanged = await finish(tx, deps.registry, stored, left);
    return { merchantId: payment.merchantId, floatOwner: null, isChanged };
  }
  if (item.isHeld) await holdItems(tx, [item.key], at);
  const released = await releaseRefunds(tx, { payment, shownId: id, at });
  const refund = await putRefund(tx, deps, { left, replanned, released });
  await finish(tx, deps.registry, refund, { ...left, before: undefined });
  const others = released.filter((each) => each.id !== id);
  await replanRefunds(tx, deps, { ...replanned, released: others }, at);
  return { merchantId: payment.merchantId, floatOwner: null, isChanged: true };
}

interface Putting {
  readonly left: Left;
  readonly replanned: Replanned;
  readonly released: readonly Refund[];
}

/**
 * Writes the refund as the chain shows it: as a new row, or in place of a request that was given its number after the database was
 * restored.
 */
async function putRefund(
  tx: Tx,
  deps: RowKeyDeps & RegistryDeps,
  { left, replanned, released }: Putting,
): Promise<Refund> {
  const { id, event, at } = left;
  const { payment, item, floatAccount } = replanned;
  const whole = shareOfPayment(payment, item);
  const others = (await lockRefundsOf(tx, payment.id)).filter(
    (refund) => refund.id !== id && !released.some((each) => each.id === refund.id),
  );
  const asked = { unit: 'asset', value: event.amount } as const;
  const plan = planShare(whole, shareLeft(whole, others), asked);
  if (!plan.ok) throw new Unplaced('is more than is left of its payment');
  const replaced = released.find((each) => each.id === id);
  const terms = {
    number: refundNumberOf(id),
    share: plan.share,
    recipient: event.recipient,
    reason: replaced?.reason ?? null,
    isOperators: replaced?.isOperators ?? false,
    sendAfter: null,
  };
  const input = { payment, item, ...terms, floatAccount: () => floatAccount };
  const planned = await planRefund(tx, deps, input);
  const next = { ...planned, account: event.payer };
  if (replaced === undefined) {
    const opened = await openRefund(tx, next, { actor: 'operator', at });
    if (opened === undefined) throw new Unplaced('differs from its stored row, which was signed or has ended');
    return opened;
  }
  await replanRefund(tx, id, next);
  const detail = {
    before: { amount: replaced.amount, recipient: replaced.recipient },
    after: { amount: next.amount, recipient: next.recipient },
  };
  await appendAudit(tx, { at, actor: 'operator', action: 'refund.replaced', subject: id, detail });
  return { ...replaced, ...next };
}

/** Moves the refund to `refunded`. Returns false if it already was. */
async function finish(
  tx: Tx,
  registry: Registry,
  refund: Refund,
  { event, before, signer, at }: Left,
): Promise<boolean> {
  const { id, merchantId, network, asset } = refund;
  const isUncovered = refund.state === 'failed' && retryOf(before !== undefined) === 'reopened';
  const steps = isUncovered ? UNCOVERED_STEPS : STEPS[refund.state];
  if (steps.includes('covered') && signer === 'gateway') {
    const parts = [
      { owner: merchantId, units: BigInt(refund.fromMerchant) },
      { owner: OPERATOR_FLOAT, units: BigInt(refund.fromOperator) },
    ];
    await takeUnpaid(tx, registry, { network, asset, subject: id, kind: 'covered', parts }, at);
  }
  let current = refund;
  for (const step of steps) {
    const { transactionHash } = event;
    const evidence = evidenceOf(event);
    const proven = step === 'paid' ? { transactionHash } : {};
    current = await moveRefund(tx, current, { event: step, actor: 'operator', evidence, ...proven }, at);
  }
  for (const name of ['refund_awaiting_funds', 'refund_failed', 'forgotten_outgoing'] as const) {
    await deleteAlert(tx, { name, subject: id });
  }
  return steps.length > 0;
}
