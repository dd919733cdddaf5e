import { heldToFloatEntry, OPERATOR_FLOAT, refundEntry, refundUncoveredEntry } from '../../../domain/books.ts';
import { NOT_LEFT, planShare, takesPart } from '../../../domain/refund.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteUnsignedOutgoing, lockOutgoing } from '../../../store/money/outgoing.ts';
import { giveBackHeld } from '../../../store/money/payouts.ts';
import { lockRefundsOf, type Refund, replanRefund } from '../../../store/money/refunds.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { aboutRefund, moveRefund } from '../../outgoing/refund/move-refund.ts';
import { planRefund, shareLeft, shareOfPayment } from '../../outgoing/refund/plan-refund.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { recordEntries } from '../record.ts';

/** A payment whose refunds are planned anew, because the chain shows a transfer that the database did not know. */
export interface Replanned {
  readonly payment: Payment;
  /** The item that paid the payment. */
  readonly item: StoredItem;
  /** The account that floats are on. */
  readonly floatAccount: string;
}

/**
 * Gives back everything that is set aside for refunds of a payment that no signature exists for, and returns them. A
 * refund that may have been signed keeps its part. An unfit one has none, and returns only if the chain shows its id.
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
    if (outgoing !== undefined) await uncover(tx, refund, at);
    if (outgoing !== undefined) await deleteUnsignedOutgoing(tx, refund.id);
    const units = BigInt(refund.fromHeld);
    const isHeldAgain = await giveBackHeld(tx, { paymentId: payment.id, units, at });
    if (!isHeldAgain) await moveHeldToFloat(tx, { payment, asset: refund.asset, units }, at);
    for (const name of ['refund_awaiting_funds', 'refund_failed'] as const) {
      await deleteAlert(tx, { name, subject: refund.id });
    }
    const free = { ...refund, fromHeld: '0', fromMerchant: refund.amount, fromOperator: '0' };
    await replanRefund(tx, refund.id, free);
    released.push(await moveRefund(tx, free, { event: 'replanned', actor: 'operator', evidence: {} }, at));
  }
  return released;
}

/** The cover of a refund goes back to floats and to the held amount. */
async function uncover(tx: Tx, refund: Refund, at: Date): Promise<void> {
  const { id: subject, network, asset, merchantId } = refund;
  const about = aboutRefund(refund);
  const [payable, merchantFloat, operatorFloat] = [refund.fromHeld, refund.fromMerchant, refund.fromOperator].map(
    BigInt,
  ) as [bigint, bigint, bigint];
  const isUnderWay = refund.state === 'sending';
  await recordEntries(
    tx,
    [
      ...(isUnderWay ? [refundEntry('failed', about, BigInt(refund.amount))] : []),
      refundUncoveredEntry(about, { payable, merchantFloat, operatorFloat }),
    ],
    at,
  );
  const back = { network, asset, kind: 'restored', subject } as const;
  const changes = [
    { ...back, owner: merchantId, units: merchantFloat },
    { ...back, owner: OPERATOR_FLOAT, units: operatorFloat },
  ];
  await changeFloats(tx, changes, at);
}

/**
 * Turns units of a held amount into a float of the merchant. The chain shows that the rest was paid out. A payment has one
 * payout, so only refunds can still use these units.
 */
export async function moveHeldToFloat(
  tx: Tx,
  { payment, asset, units }: { payment: Payment; asset: string; units: bigint },
  at: Date,
): Promise<void> {
  if (units === 0n) return;
  const { id: subject, merchantId } = payment;
  const [network = ''] = asset.split('/');
  await changeFloats(tx, [{ owner: merchantId, network, asset, units, kind: 'added', subject }], at);
  const about = { network, asset, subject, reference: subject, merchantId };
  await recordEntries(tx, [heldToFloatEntry(about, units)], at);
}

/** Plans released refunds again, in the order of their numbers. Those that no longer fit into the payment end. */
export async function replanRefunds(
  tx: Tx,
  deps: RowKeyDeps,
  { payment, item, floatAccount, released }: Replanned & { readonly released: readonly Refund[] },
  at: Date,
): Promise<void> {
  const whole = shareOfPayment(payment, item);
  const isReleased = (id: string) => released.some((each) => each.id === id);
  const planned = (await lockRefundsOf(tx, payment.id)).filter(({ id }) => !isReleased(id));
  for (const refund of released) {
    const { id, number, recipient, reason, isOperators } = refund;
    const asked = { unit: 'asset', value: BigInt(refund.amount) } as const;
    const plan = planShare(whole, shareLeft(whole, planned), asked);
    if (!plan.ok) {
      const evidence = { left: shareLeft(whole, planned).amount.toString() };
      await moveRefund(tx, refund, { event: 'unfit', actor: 'operator', evidence, problem: NOT_LEFT }, at);
      const detail = { amount: refund.amount, ...evidence };
      await appendAudit(tx, { at, actor: 'operator', action: 'refund.unfit', subject: id, detail });
      continue;
    }
    const terms = { payment, item, number, share: plan.share, recipient, reason, isOperators };
    const next = await planRefund(tx, deps, { ...terms, floatAccount: () => floatAccount }, at);
    await replanRefund(tx, id, next);
    planned.push({ ...refund, ...next });
  }
}
