import { unpaidEntry } from '../../domain/books.ts';
import { decide } from '../../domain/payment.ts';
import { declineDueItem } from '../../store/chain/due-items.ts';
import { findItems } from '../../store/chain/items.ts';
import { lockBookItems } from '../../store/money/book-items.ts';
import type { PaymentFeed } from '../../store/payments/payment-feed.ts';
import { lockPayments, movePayments, stateOf } from '../../store/payments/payments.ts';
import { recordEntries } from '../books/record.ts';
import { type CommandDeps, command } from '../command.ts';

/**
 * Ends a payment whose payer turned out to be one we must not serve, and says whether it did. Only while no transaction
 * with its item was ever stored: once there is one it may be out, and the chain decides.
 */
export async function declineItem(
  deps: CommandDeps & { feed: PaymentFeed },
  { commitment, actor, evidence }: { commitment: string; actor: string; evidence: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  const event = { type: 'failed', failureCode: 'declined_user' } as const;
  const declined = await command(deps, async (tx, now) => {
    const [item] = await findItems(tx, [commitment]);
    const [payment] = item === undefined ? [] : await lockPayments(tx, [item.subject]);
    if (payment === undefined) return undefined;
    const decision = decide(stateOf(payment), event, now.getTime());
    const booked = await lockBookItems(tx, [commitment]);
    if (!decision.ok || !(await declineDueItem(tx, commitment, now))) return undefined;
    await recordEntries(
      tx,
      booked.map((item) => unpaidEntry(item, 'declined')),
      now,
    );
    const facts = { failureCode: event.failureCode };
    const move = { payment, to: decision.to, at: now, event: event.type, actor, evidence, facts };
    const moved = await movePayments(tx, [move]);
    if (moved.length !== 1) throw new Error('A locked payment was moved by somebody else.');
    return payment.id;
  });
  if (declined === undefined) return false;
  deps.feed.announce([declined]);
  return true;
}
