import { amountText } from '../../../chains/amount-text.ts';
import type { Registry } from '../../../chains/registry.ts';
import type { Refund } from '../../../store/money/refunds.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

/** Alerts the operator of a refund whose money exists, but cannot be taken yet. Adding to a float would not help. */
export async function alertOfHold(
  tx: Tx,
  registry: Registry,
  { id, asset, amount }: Refund,
  problem: string,
  at: Date,
): Promise<void> {
  const message = `A refund of ${amountText(registry, asset, amount)} waits: ${problem}. It goes on by itself. \`till refunds veto ${id}\` ends it.`;
  await upsertAlert(tx, { name: 'refund_awaiting_funds', subject: id, message, lastSeen: at });
}

/** Alerts the operator of a refund that waits for money. The problem is a sentence without its full stop. */
export async function alertOfWait(
  tx: Tx,
  registry: Registry,
  refund: Refund,
  problem: string,
  at: Date,
): Promise<void> {
  const { id, asset, amount } = refund;
  const message = `A refund of ${amountText(registry, asset, amount)} waits: ${problem}. See till float add, or till refunds cover ${id}. The merchant can sign for it if till refunds show ${id} names a link.`;
  await upsertAlert(tx, { name: 'refund_awaiting_funds', subject: id, message, lastSeen: at });
}
