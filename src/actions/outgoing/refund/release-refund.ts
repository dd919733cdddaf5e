import { heldToFloatEntry, OPERATOR_FLOAT, refundEntry, refundUncoveredEntry } from '../../../domain/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteUnsignedOutgoing, lockOutgoing } from '../../../store/money/outgoing.ts';
import { giveBackHeld } from '../../../store/money/payouts.ts';
import type { Refund } from '../../../store/money/refunds.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { aboutRefund } from './move-refund.ts';

/** Gives back everything that is set aside for a locked refund that no signature exists for. */
export async function releaseRefund(
  tx: Tx,
  { refund, payment, at }: { refund: Refund; payment: Payment; at: Date },
): Promise<void> {
  if ((await lockOutgoing(tx, refund.id)) !== undefined) {
    await uncover(tx, refund, at);
    await deleteUnsignedOutgoing(tx, refund.id);
  }
  const units = BigInt(refund.fromHeld);
  const isHeldAgain = await giveBackHeld(tx, { paymentId: payment.id, units, at });
  if (!isHeldAgain) await moveHeldToFloat(tx, { payment, asset: refund.asset, units }, at);
  for (const name of ['refund_awaiting_funds', 'refund_failed'] as const) {
    await deleteAlert(tx, { name, subject: refund.id });
  }
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
