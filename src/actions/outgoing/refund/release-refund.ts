import { OPERATOR_FLOAT, refundEntry, refundUncoveredEntry } from '../../../domain/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteSpends } from '../../../store/money/lots.ts';
import { deleteUnsignedOutgoing, lockOutgoing } from '../../../store/money/outgoing.ts';
import type { Refund } from '../../../store/money/refunds.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { aboutRefund } from './move-refund.ts';

/** Releases all money that is set aside for a locked refund, which nobody has signed. The caller has locked the payment, too. */
export async function releaseRefund(tx: Tx, { refund, at }: { refund: Refund; at: Date }): Promise<void> {
  if ((await lockOutgoing(tx, refund.id)) !== undefined) {
    await uncover(tx, refund, at);
    await deleteUnsignedOutgoing(tx, refund.id);
  }
  await deleteSpends(tx, refund.id);
  for (const name of ['refund_awaiting_funds', 'refund_failed'] as const) {
    await deleteAlert(tx, { name, subject: refund.id });
  }
}

/** Gives the money that covered a refund back to the floats and to the held amount. */
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
