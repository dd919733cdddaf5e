import type { ItemKey } from '../../domain/item.ts';
import { lockUnsentItem } from '../../store/chain/due-items.ts';
import { findItems } from '../../store/chain/items.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { type CommandDeps, command } from '../command.ts';
import { moveLocked } from './move-locked.ts';

/**
 * Ends a payment whose payer is on the screening list. Returns false if a signed transaction with the payment's item is stored: it may
 * have been broadcast, and then the chain decides.
 */
export function declineItem(
  deps: CommandDeps,
  { key, actor, evidence }: { key: ItemKey; actor: string; evidence: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  return command(deps, async (tx, now) => {
    const [item] = await findItems(tx, [key]);
    if (item === undefined) return false;
    const payments = await lockPayments(tx, [item.subject]);
    if (!(await lockUnsentItem(tx, key))) return false;
    const move = {
      paymentId: item.subject,
      event: { type: 'failed', failureCode: 'declined_user' },
      actor,
      evidence,
      items: { ended: [{ key, state: 'unpaid', reason: 'declined' }] },
    } as const;
    const [outcome] = await moveLocked(tx, payments, [move], now);
    return outcome?.ok ?? false;
  });
}
