import { amountText } from '../../../chains/amount-text.ts';
import { strayId } from '../../../domain/stray.ts';
import type { StoredEvent } from '../../../store/chain/chain-events.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import type { NewStray } from '../../../store/money/strays.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

/** What was paid too late, as something to be given back: `till strays return`. */
export async function lateStray(tx: Tx, item: StoredItem, event: StoredEvent): Promise<NewStray> {
  const { network, asset, payer, recipient, amount, fee, isHeld, subject: paymentId } = item;
  const { transactionHash, logIndex, blockNumber } = event;
  const [payment] = await findPayments(tx, [paymentId]);
  const place = { network, transactionHash, logIndex, source: 'late_payment' } as const;
  return {
    ...place,
    id: strayId(place),
    blockNumber,
    asset,
    sender: payer,
    account: recipient,
    amount,
    fee,
    isHeld,
    paymentId,
    merchantId: payment?.merchantId ?? null,
    isBooked: true,
    state: 'unclaimed',
  };
}

/** What a person is told of it. */
export function lateAlert({ subject, amount, asset }: StoredItem, status: string | undefined) {
  const message = `The payment was paid after its end (${status}): the payer should get ${amountText(asset, amount)} back. See till strays return.`;
  return { name: 'paid_after_end', subject, message } as const;
}
