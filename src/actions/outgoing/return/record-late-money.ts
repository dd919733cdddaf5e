import { amountText } from '../../../chains/amount-text.ts';
import type { Registry } from '../../../chains/registry.ts';
import { unexpectedId } from '../../../domain/unexpected-money.ts';
import type { StoredEvent } from '../../../store/chain/chain-events.ts';
import type { StoredItem } from '../../../store/chain/items.ts';
import { itemLotId } from '../../../store/money/lots.ts';
import { insertUnexpected, moveLateMoney, type NewUnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { notePayments } from '../../paying/note-payments.ts';

export interface LateMoney {
  readonly item: StoredItem;
  readonly event: StoredEvent;
  readonly actor: string;
}

/**
 * Records as unexpected money an item that was carried out after its payment had ended. A partner has the money returned, or an operator
 * by `till strays return`. If a reorg moves the item to another transaction on chain, its row is changed instead of a second row being
 * stored, so the money cannot be returned twice.
 */
export async function recordLateMoney(tx: Tx, { item, event, actor }: LateMoney, at: Date): Promise<void> {
  const { subject, commitment } = item;
  // The payment is locked before its items and its unexpected money, as in every database transaction that locks them.
  const [payment] = await lockPayments(tx, [subject]);
  const reason = payment?.status === 'succeeded' ? 'paid_twice' : 'late';
  const unexpected = { ...lateMoneyRow(item, event, payment?.merchantId ?? null), reason } as const;
  const { id, asset, amount } = unexpected;
  if (await moveLateMoney(tx, item, unexpected)) return;
  if ((await insertUnexpected(tx, [unexpected], at)).length === 0) return;
  const evidence = { stray: id, commitment, transaction: event.transactionHash, block: event.blockNumber };
  const lateMoney = { id, reason, asset, amount } as const;
  await notePayments(tx, [subject], { type: 'payment.late_money', actor, evidence, lateMoney }, at);
}

function lateMoneyRow(item: StoredItem, event: StoredEvent, merchantId: string | null): NewUnexpectedMoney {
  const { network, asset, payer, recipient, amount, fee, isHeld, commitment, subject: paymentId } = item;
  const { transactionHash, logIndex, blockNumber } = event;
  const place = { network, transactionHash, logIndex, source: 'late_payment' } as const;
  return {
    ...place,
    id: unexpectedId(place),
    blockNumber,
    asset,
    sender: payer,
    account: recipient,
    amount,
    fee,
    isHeld,
    paymentId,
    merchantId,
    isBooked: true,
    state: 'unclaimed',
    // The lot is held for the merchant, and pays the return.
    ...(isHeld && { lotId: itemLotId(network, commitment) }),
  };
}

export function lateAlert(registry: Registry, { subject, amount, asset }: StoredItem, status: string | undefined) {
  const message = `The payment was paid after its end (${status}): the payer should get ${amountText(registry, asset, amount)} back. See till strays return.`;
  return { name: 'paid_after_end', subject, message } as const;
}
